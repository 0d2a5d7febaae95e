import type pg from 'pg';
import { connectClient } from '#kernel/pg/pool.ts';
import { highestOf, movedBy } from '#wallet/indices/branch-ends.ts';
import { beginReleases, readRelease, startRelease } from '#wallet/indices/release.store.ts';

/** Runs `work` while a process releases ten indices of the wallet in a database. */
export async function withRelease<Result>(
  url: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = await connectClient(url);
  try {
    const { next, released } = (await readRelease(client))!;
    await startRelease(client, await beginReleases(client), next, highestOf(released, movedBy(next, 10)));
    return await work(client);
  } finally {
    await client.end();
  }
}
