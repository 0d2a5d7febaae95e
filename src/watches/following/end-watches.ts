import type pg from 'pg';
import { revokedAmong } from '#accounts/account.store.ts';
import {
  deleteOld,
  endGone,
  endRevoked,
  readToldWatches,
  readWatchingKeys,
} from '#watches/store/live-watches.store.ts';
import { subjectOf } from '#watches/watch.ts';
import { readGoneAmong } from '#webhooks/webhooks.queries.ts';

/** How often revoked keys and webhooks that answered 410 are looked up, in ms. */
const endsEveryMs = 5_000;
/** How often old watches and findings are deleted, in ms. */
const deleteEveryMs = 3_600_000;

/** Ends watches that find nothing any more, and deletes what is no longer kept. */
export class EndingWatches {
  #endsAt = 0;
  #deleteAt = 0;

  async round(client: pg.ClientBase, now: number): Promise<void> {
    if (now >= this.#endsAt) {
      this.#endsAt = now + endsEveryMs;
      await endAll(client);
    }
    if (now >= this.#deleteAt) {
      this.#deleteAt = now + deleteEveryMs;
      await deleteOld(client);
    }
  }
}

async function endAll(client: pg.ClientBase): Promise<void> {
  const revoked = await revokedAmong(client, await readWatchingKeys(client));
  if (revoked.length > 0) await endRevoked(client, revoked);
  const told = new Map((await readToldWatches(client)).map((watch) => [subjectOf(watch), watch]));
  const gone = await readGoneAmong(
    client,
    [...told].map(([subject, { url }]) => ({ subject, url })),
  );
  if (gone.length > 0)
    await endGone(
      client,
      gone.flatMap((subject) => told.get(subject)?.id ?? []),
    );
}
