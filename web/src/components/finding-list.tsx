// Findings with their saving, advice, and a link to the evidence.

import type { Finding, FindingCode } from "kinetoscope/remote";
import { time } from "../model/format";
import type { View } from "../model/views";
import { To } from "./parts";
import { TEXTS } from "../strings";

const LABELS = TEXTS.findingList;
const SHARED = TEXTS.shared;

/** The view that shows the evidence of a finding. */
const EVIDENCE: Record<FindingCode, { view: View; with?: Record<string, string>; label: string }> = {
  host_bound: { view: "findings", with: { at: "idle-causes" }, label: LABELS.idleCauses },
  gpu_idle: { view: "timeline", label: LABELS.deviceBusyTime },
  exposed_communication: {
    view: "kernels",
    with: { q: "/nccl|rccl|mscclpp|hccl|oneccl|c10d::/i" },
    label: LABELS.communicationKernels,
  },
  pageable_copies: { view: "kernels", with: { q: "Pageable" }, label: LABELS.pageableCopies },
  slow_copies: { view: "kernels", with: { q: "Pinned" }, label: LABELS.pinnedCopies },
  synchronization: { view: "operators", with: { q: "Synchronize" }, label: LABELS.synchronizingCalls },
  caching_allocator: { view: "operators", with: { q: "/Malloc|Free/" }, label: LABELS.allocations },
  cold_start: { view: "timeline", label: LABELS.firstUse },
  graph_capture: { view: "timeline", with: { q: "BeginCapture" }, label: LABELS.captures },
  misaligned_products: { view: "kernels", with: { q: "/align[12]([^0-9]|$)/" }, label: SHARED.kernels },
  eager_attention: { view: "kernels", with: { q: "softmax" }, label: SHARED.kernels },
  elementwise_kernels: { view: "kernels", label: SHARED.kernels },
  conversions: { view: "kernels", label: SHARED.kernels },
  layout_copies: { view: "kernels", label: SHARED.kernels },
  unfused_optimizer: { view: "operators", with: { q: "Optimizer" }, label: LABELS.optimizer },
  data_loading: { view: "operators", with: { q: "DataLoader" }, label: LABELS.dataLoading },
  garbage_collection: { view: "timeline", with: { q: "Python GC" }, label: LABELS.garbageCollection },
  no_tensor_cores: { view: "kernels", label: SHARED.kernels },
  data_parallel: { view: "timeline", with: { q: "DataParallel.forward" }, label: LABELS.dataParallel },
  host_collectives: { view: "operators", with: { q: "/^(gloo|mpi):/" }, label: LABELS.hostCollectives },
  memory_nearly_full: { view: "memory", label: LABELS.memory },
  anti_pattern: { view: "findings", label: LABELS.antiPatterns },
  blocking_polls: { view: "timeline", label: LABELS.longPolls },
  uneven_steps: { view: "steps", label: SHARED.steps },
  trace_incomplete: { view: "overview", with: { at: "data-quality" }, label: LABELS.lostData },
  overlapping_spans: { view: "overview", with: { at: "data-quality" }, label: LABELS.diagnostics },
};

/** What a replay without a finding saves. */
function Saving({ finding }: { finding: Finding }) {
  const { saving_ns: saving, added_ns: added, saving_error_ns: error } = finding;
  if (saving === null)
    return (
      <span class="cost" title={LABELS.savingUnknown}>
        {LABELS.noSaving}
      </span>
    );
  return (
    <span class="cost" title={LABELS.saving(time(saving), time(error ?? 0))}>
      {time(saving)}
      {added !== null && added < saving ? <small>{LABELS.added(time(added))}</small> : null}
    </span>
  );
}

export function FindingList({ findings }: { findings: readonly Finding[] }) {
  return (
    <ol class="findings">
      {findings.map((finding) => {
        const evidence = EVIDENCE[finding.code];
        return (
          <li key={finding.code + finding.message} data-finding={finding.code}>
            <Saving finding={finding} />
            <div>
              <p class="finding-message">{finding.message}</p>
              <p class="advice">{finding.advice}</p>
              <To view={evidence.view} {...(evidence.with ? { with: evidence.with } : {})}>
                {evidence.label}
              </To>
            </div>
          </li>
        );
      })}
    </ol>
  );
}
