import type { EmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';
import { connectClient } from '#kernel/pg/pool.ts';

/** Allows the writer to ask for a checkpoint, with which a bench begins. Roles of a service may not. */
export async function allowCheckpoints({ superuserUrl, url }: EmbeddedPostgres): Promise<void> {
  const client = await connectClient(superuserUrl);
  try {
    await client.query(`GRANT pg_checkpoint TO ${new URL(url).username}`);
  } finally {
    await client.end();
  }
}
