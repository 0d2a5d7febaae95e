import type { EmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';
import { connectClient } from '#kernel/pg/pool.ts';

/** A bench begins after a checkpoint, which the roles of a service may not ask for. */
export async function allowCheckpoints({ superuserUrl, url }: EmbeddedPostgres): Promise<void> {
  const client = await connectClient(superuserUrl);
  try {
    await client.query(`GRANT pg_checkpoint TO ${new URL(url).username}`);
  } finally {
    await client.end();
  }
}
