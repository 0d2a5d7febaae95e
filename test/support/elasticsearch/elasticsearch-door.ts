import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { type Elasticsearch, startElasticsearch } from './elasticsearch.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL that returns the address of the shared Elasticsearch, once that is ready. */
    elasticsearchDoor: string;
  }
}

/**
 * Serves one Elasticsearch for all test files of a run. It starts on the first request, because most runs need none.
 */
export async function openElasticsearchDoor(project: TestProject): Promise<() => Promise<void>> {
  let node: Promise<Elasticsearch> | null = null;
  const door = createServer((_, response) => {
    node ??= startElasticsearch();
    node.then(
      ({ url }) => response.end(url),
      (error: unknown) => {
        // the next test starts another one, because otherwise all later suites would fail with this error
        node = null;
        response.statusCode = 500;
        response.end(String(error));
      },
    );
  });
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', () => resolve()));
  project.provide('elasticsearchDoor', `http://127.0.0.1:${(door.address() as AddressInfo).port}`);
  return async () => {
    door.closeAllConnections();
    await new Promise((resolve) => door.close(resolve));
    await (await node?.catch(() => null))?.remove();
  };
}
