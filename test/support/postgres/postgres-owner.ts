/** Owns the embedded Postgres of a folder (first argument), prints its URL and waits until it is killed. */
import { startEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';

const { url } = await startEmbeddedPostgres({ dataDir: process.argv[2]!, durable: true });
process.stdout.write(`${url}\n`);
setInterval(() => undefined, 1000);
