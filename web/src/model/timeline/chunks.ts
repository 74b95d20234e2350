// A cache of the drawn data in chunks, like the tiles of a map: each has a zoom level and a position, is requested once
// and kept for a while. A chunk of level n has 2ⁿ ns per pixel; a pixel of the screen covers between half of that and
// all of it.

/** The width of a chunk in pixels of its level. */
export const CHUNK_PIXELS = 1024;

/** The key of a chunk. */
export interface Place {
  /** The number of the track or counter. */
  of: number;
  level: number;
  at: number;
}

/** Returns the level for a resolution in ns per pixel. */
export function levelOf(nsPerPixel: number): number {
  return Math.max(0, Math.ceil(Math.log2(nsPerPixel)));
}

/** Returns the length of a chunk in ns. */
export function chunkLength(level: number): number {
  return CHUNK_PIXELS * 2 ** level;
}

/** Returns the chunks that cover a time range. */
export function placesOf(of: number, level: number, start: number, end: number): Place[] {
  const length = chunkLength(level);
  const first = Math.floor(start / length);
  const last = Math.floor(end / length);
  return Array.from({ length: last - first + 1 }, (_, at) => ({ of, level, at: first + at }));
}

const keyOf = ({ of, level, at }: Place): string => `${of} ${level} ${at}`;

/** The number of levels that are searched for a coarser chunk while a chunk is being loaded. */
const COARSER = 8;

/** The number of concurrent requests. The worker answers them in order, and a moved view needs other chunks first. */
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

  /** Returns a chunk if it is loaded. */
  get(place: Place): Chunk | undefined {
    const key = keyOf(place);
    const found = this.kept.get(key);
    if (found !== undefined) {
      // The least recently used chunk is evicted first.
      this.kept.delete(key);
      this.kept.set(key, found);
    }
    return found;
  }

  /** Returns the nearest loaded coarser chunk that covers a place. */
  coarser({ of, level, at }: Place): Chunk | undefined {
    for (let up = 1; up <= COARSER; up += 1) {
      const found = this.kept.get(keyOf({ of, level: level + up, at: Math.floor(at / 2 ** up) }));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Requests chunks, the most urgent first. Earlier requests that have not started are dropped. */
  want(places: readonly Place[]): void {
    this.wanted = places.filter((place) => !this.kept.has(keyOf(place)) && !this.pending.has(keyOf(place)));
    this.next();
  }

  /** Whether all requested chunks are loaded. */
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
        // The trace was closed: the chunk is not needed any more.
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
