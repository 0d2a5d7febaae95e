import { setTimeout as delay } from 'node:timers/promises';
import {
  type Elasticsearch,
  type ElasticsearchPorts,
  freePorts,
  startElasticsearch,
} from './elasticsearch.ts';

/** Starts the nodes of one cluster on this machine, each with its own folder. Any node may become the master. */
export async function startElasticsearchCluster(
  count: number,
  heapMegabytes: number,
): Promise<readonly Elasticsearch[]> {
  const ports: ElasticsearchPorts[] = [];
  for (let node = 0; node < count; node++) ports.push(await freePorts());
  const names = ports.map((_, node) => `n${node + 1}`).join(',');
  const hosts = ports.map(({ transport }) => `127.0.0.1:${transport}`).join(',');
  const nodes = await Promise.all(
    ports.map((own, node) =>
      startElasticsearch({
        heapMegabytes,
        ports: own,
        isOneOfMany: true,
        extra: [
          'cluster.name: satscribe-test',
          `node.name: n${node + 1}`,
          `discovery.seed_hosts: [${hosts}]`,
          `cluster.initial_master_nodes: [${names}]`,
        ],
      }),
    ),
  );
  await Promise.all(nodes.map((node) => node.whenReady()));
  await untilHealthy(nodes, count, 'green');
  return nodes;
}

/** Waits until the cluster has this many nodes and all shards are allocated. Any node may answer. */
export async function untilHealthy(
  nodes: readonly Elasticsearch[],
  count: number,
  status: 'green' | 'yellow',
): Promise<void> {
  const deadline = Date.now() + 240_000;
  const query = `wait_for_nodes=${count}&wait_for_status=${status}&wait_for_no_relocating_shards=true&timeout=2s`;
  for (;;) {
    for (const { url } of nodes) {
      const answer = await fetch(`${url}/_cluster/health?${query}`, {
        signal: AbortSignal.timeout(8000),
      }).catch(() => null);
      if (answer?.ok === true) return;
    }
    if (Date.now() > deadline) throw new Error(`the cluster did not become ${status}`);
    await delay(200);
  }
}
