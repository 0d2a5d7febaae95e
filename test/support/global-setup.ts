import { execFile } from 'node:child_process';
import { access, chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';
import { migrate } from '#kernel/pg/migrate.ts';
import { connectClient } from '#kernel/pg/pool.ts';
import { ensureReaderRights } from '#kernel/pg/reader-role.ts';
import { databaseFolder } from './database-folder.ts';
import { openElasticsearchDoor } from './elasticsearch/elasticsearch-door.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /**
     * The server of the tests: URL of a database whose account may create databases and roles, URLs of the two roles of
     * a service (ADR 29), and the name of the migrated template on the same server. If the run has an embedded server,
     * also the folder of a stopped one, which tests copy.
     */
    testServer: {
      url: string;
      writerUrl: string;
      readerUrl: string;
      template: string;
      cluster: string | null;
    };
  }
}

/**
 * Starts one real Postgres for all tests of a run. This is the server that TEST_DATABASE_URL names (its account must be
 * allowed to create databases and roles), or an embedded one in a temporary folder. `createTestDatabase()` clones the
 * server's migrated template. Also opens the service from which tests get an Elasticsearch.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env['TEST_DATABASE_URL'];
  const server =
    given === undefined || given === '' ? await startTemporaryServer() : await givenServer(given);
  const { url, writerUrl, readerUrl, cluster } = server;
  const template = `satscribe_template_${process.pid}_${Date.now().toString(36)}`;
  await onServer(url, `CREATE DATABASE ${template} OWNER ${new URL(writerUrl).username}`);
  const ofTemplate = (role: string): string => {
    const address = new URL(role);
    address.pathname = `/${template}`;
    return address.href;
  };
  await migrate(ofTemplate(writerUrl));
  await ensureReaderRights(ofTemplate(writerUrl), ofTemplate(readerUrl));
  project.provide('testServer', { url, writerUrl, readerUrl, template, cluster });
  const closeDoor = await openElasticsearchDoor(project);
  return async () => {
    await closeDoor();
    await onServer(url, `DROP DATABASE IF EXISTS ${template}`);
    await server.stop();
  };
}

interface TestServer {
  readonly url: string;
  readonly writerUrl: string;
  readonly readerUrl: string;
  readonly cluster: string | null;
  stop(): Promise<void>;
}

/** Uses a given server. Its account is the writer. */
async function givenServer(url: string): Promise<TestServer> {
  const role = `satscribe_reader_${process.pid}_${Date.now().toString(36)}`;
  await onServer(url, `CREATE ROLE ${role} LOGIN PASSWORD 'reader'`);
  const readerUrl = new URL(url);
  readerUrl.username = role;
  readerUrl.password = 'reader';
  const stop = (): Promise<void> => onServer(url, `DROP ROLE ${role}`);
  return { url, writerUrl: url, readerUrl: readerUrl.href, cluster: null, stop };
}

async function startTemporaryServer(): Promise<TestServer> {
  const folder = await mkdtemp(join(databaseFolder(), 'satscribe-test-'));
  // if root runs the tests, the server runs as an ordinary account, which must be able to reach the folder
  await chmod(folder, 0o755);
  const dataDir = join(folder, 'data');
  await (await startEmbeddedPostgres({ dataDir, durable: false })).stop();
  const home = join(dataDir, 'postgres');
  // if root runs the tests below a folder of mode 700, the server uses another folder
  const isInside = await access(home).then(
    () => true,
    () => false,
  );
  const cluster = isInside ? join(folder, 'postgres') : null;
  if (cluster !== null) await promisify(execFile)('cp', ['-a', home, cluster]);
  const server = await startEmbeddedPostgres({ dataDir, durable: false });
  const stop = async (): Promise<void> => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return {
    url: server.superuserUrl,
    writerUrl: server.url,
    readerUrl: server.readerUrl,
    cluster,
    stop,
  };
}

async function onServer(url: string, statement: string): Promise<void> {
  const client = await connectClient(url);
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
