import type { EmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';
import { connectClient } from '#kernel/pg/pool.ts';

/** Lets the writer request a checkpoint, with which a bench starts. Roles of a service have no right to do so. */
export async function allowCheckpoints({ superuserUrl, url }: EmbeddedPostgres): Promise<void> {
  const client = await connectClient(superuserUrl);
  try {
    await client.query(`GRANT pg_checkpoint TO ${new URL(url).username}`);
  } finally {
    await client.end();
  }
}
