/** Polling: at least so long between snapshots, and ten times as long as one takes. */
const pollMs = 2000;
const pollShare = 10;
/** A lost number is one where it is missing so long: a reorganisation tells its changes within one call. */
const missingMs = 5000;
/** A snapshot by the clock, whatever the stream says: what no number showed to be lost is found so. */
const snapshotEveryMs = 10 * 60_000;

/** What is followed: whether a snapshot is there that the stream joins, and how many changes were lost since. */
interface Followed {
  readonly isJoined: boolean;
  readonly missing: number;
}

/** When the next snapshot is due. */
export class SnapshotClock {
  firstAt = Date.now();
  #nextAt = 0;
  #missingSince: number | null = null;
  readonly #isPolling: boolean;

  constructor(isPolling: boolean) {
    this.#isPolling = isPolling;
  }

  isDue(session: Followed, now: number): boolean {
    if (session.missing <= 0) this.#missingSince = null;
    else this.#missingSince ??= now;
    if (this.#missingSince !== null && now - this.#missingSince > missingMs) return true;
    return !session.isJoined || now >= this.#nextAt;
  }

  taken(startedAt: number, endedAt: number): void {
    this.#missingSince = null;
    const between = this.#isPolling ? Math.max(pollMs, (endedAt - startedAt) * pollShare) : snapshotEveryMs;
    this.#nextAt = endedAt + between;
  }
}
