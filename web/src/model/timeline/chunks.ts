// What is drawn, in chunks as a map has tiles: each of a level of zoom and a place, asked for once and kept for a while.
// A chunk of level n has 2ⁿ ns a pixel; a pixel of the screen has between half of that and all of it.

/** How many pixels of its level a chunk is wide. */
export const CHUNK_PIXELS = 1024;

/** A chunk's place. */
export interface Place {
  /** What it is of: a track, a counter. */
  of: number;
  level: number;
  at: number;
}

/** The level for so many ns a pixel. */
export function levelOf(nsPerPixel: number): number {
  return Math.max(0, Math.ceil(Math.log2(nsPerPixel)));
}

/** How long a chunk is, in ns. */
export function chunkLength(level: number): number {
  return CHUNK_PIXELS * 2 ** level;
}

/** The chunks that cover a stretch of time. */
export function placesOf(of: number, level: number, start: number, end: number): Place[] {
  const length = chunkLength(level);
  const first = Math.floor(start / length);
  const last = Math.floor(end / length);
  return Array.from({ length: last - first + 1 }, (_, at) => ({ of, level, at: first + at }));
}

const keyOf = ({ of, level, at }: Place): string => `${of} ${level} ${at}`;

/** Levels that are looked through for a coarser chunk while one is on its way. */
const COARSER = 8;

/** Requests under way at once; the worker answers them one by one, and a view that has moved on wants others. */
const AT_ONCE = 6;

export class Chunks<Chunk> {
  private readonly kept = new Map<string, Chunk>();
  private readonly pending = new Set<string>();
  private wanted: Place[] = [];

  constructor(
    private readonly load: (place: Place, start: number, end: number) => Promise<Chunk>,
    private readonly onArrival: () => void,
    private readonly most = 600,
  ) {}

  /** The chunk of a place, or nothing yet. */
  get(place: Place): Chunk | undefined {
    const key = keyOf(place);
    const found = this.kept.get(key);
    if (found !== undefined) {
      // What was used last is given up last.
      this.kept.delete(key);
      this.kept.set(key, found);
    }
    return found;
  }

  /** The nearest coarser chunk that covers a place. */
  coarser({ of, level, at }: Place): Chunk | undefined {
    for (let up = 1; up <= COARSER; up += 1) {
      const found = this.kept.get(keyOf({ of, level: level + up, at: Math.floor(at / 2 ** up) }));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Says which chunks are wanted now, the most urgent first; what was wanted before and is not under way is forgotten. */
  want(places: readonly Place[]): void {
    this.wanted = places.filter((place) => !this.kept.has(keyOf(place)) && !this.pending.has(keyOf(place)));
    this.next();
  }

  /** Whether everything that was wanted is there. */
  get isIdle(): boolean {
    return this.pending.size === 0 && this.wanted.length === 0;
  }

  private next(): void {
    while (this.pending.size < AT_ONCE) {
      const place = this.wanted.shift();
      if (!place) return;
      const key = keyOf(place);
      const length = chunkLength(place.level);
      this.pending.add(key);
      this.load(place, place.at * length, (place.at + 1) * length).then(
        (chunk) => this.arrive(key, chunk),
        // The trace was closed; nobody will ask again.
        () => this.pending.delete(key),
      );
    }
  }

  private arrive(key: string, chunk: Chunk): void {
    this.pending.delete(key);
    this.kept.set(key, chunk);
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= this.most) break;
      this.kept.delete(oldest);
    }
    this.next();
    this.onArrival();
  }
}
