import { AppError } from '#kernel/errors/app-error.ts';
import { shownAddress } from '#kernel/shown-address.ts';
import { connectClient } from './pool.ts';
import { postgresFailure } from './postgres-failure.ts';

/** The oldest server version that our SQL is tested with. */
const oldestVersion = 150_000;

/**
 * Checks that the server is usable: it answers, is new enough, and stores text as UTF8. Throws
 * `postgres_unreachable`, `postgres_lost`, `postgres_refused` or `postgres_version`.
 */
export async function checkServer(url: string): Promise<void> {
  const client = await connectClient(url);
  try {
    const { rows } = await client.query<{ version: string; name: string; encoding: string }>(
      `SELECT current_setting('server_version_num') AS version, current_setting('server_version') AS name,
              current_setting('server_encoding') AS encoding`,
    );
    const found = rows[0];
    if (found === undefined || Number(found.version) < oldestVersion) {
      const message = `Postgres at ${shownAddress(url)} is version ${found?.name}; 15 or newer is needed.`;
      throw new AppError('postgres_version', message, { version: found?.name });
    }
    if (found.encoding !== 'UTF8') {
      const message = `The database at ${shownAddress(url)} has encoding ${found.encoding}; UTF8 is needed.`;
      throw new AppError('postgres_version', message, { encoding: found.encoding });
    }
  } catch (error) {
    // the connection can break before the first answer
    throw postgresFailure(error);
  } finally {
    await client.end();
  }
}
