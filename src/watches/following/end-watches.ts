import type pg from 'pg';
import { revokedAmong } from '#accounts/account.store.ts';
import {
  deleteOld,
  endGone,
  endRevoked,
  readTellingAmong,
  readWatchingKeys,
} from '#watches/store/live-watches.store.ts';
import { watchOfSubject, watchSubjects } from '#watches/watch.ts';
import { deleteWaiting, readWaitingSubjects } from '#webhooks/waiting-messages.store.ts';

/** How often revoked keys and webhooks that answered 410 are looked up, in ms. */
const endsEveryMs = 5_000;
/** How often old watches and findings are deleted, in ms. */
const deleteEveryMs = 3_600_000;

/** Ends watches that find nothing any more, and deletes what is no longer kept or wanted. */
export class EndingWatches {
  #endsAt = 0;
  #deleteAt = 0;

  async round(client: pg.ClientBase, now: number): Promise<void> {
    if (now >= this.#endsAt) {
      this.#endsAt = now + endsEveryMs;
      await endAll(client);
      await deleteUnwanted(client);
    }
    if (now >= this.#deleteAt) {
      const hasMore = await deleteOld(client);
      this.#deleteAt = now + (hasMore ? endsEveryMs : deleteEveryMs);
    }
  }
}

async function endAll(client: pg.ClientBase): Promise<void> {
  const revoked = await revokedAmong(client, await readWatchingKeys(client));
  if (revoked.length > 0) await endRevoked(client, revoked);
  await endGone(client);
}

/** Deletes messages that wait although their watch was deleted, or although the key of the watch was revoked. */
async function deleteUnwanted(client: pg.ClientBase): Promise<void> {
  const waiting = await readWaitingSubjects(client, watchSubjects);
  if (waiting.length === 0) return;
  // the watches are read after the messages, so that no message of a new watch is deleted
  const telling = new Set(await readTellingAmong(client, waiting.map(watchOfSubject)));
  await deleteWaiting(
    client,
    waiting.filter((subject) => !telling.has(watchOfSubject(subject))),
  );
}
