import { expect, test, vi } from 'vitest';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { NodeWatch } from '#orders/sending/node-watch.ts';

/** A node that reports these uptimes in seconds, one for each check. */
function nodeThatIsUp(...uptimes: readonly number[]): NodeRpc {
  const left = [...uptimes];
  const answers: Record<string, () => unknown> = {
    uptime: () => left.shift(),
    getmempoolinfo: () => ({ minrelaytxfee: 0.000_01, mempoolminfee: 0.000_01 }),
    estimatesmartfee: () => ({}),
  };
  return { call: async <Result>(method: string) => answers[method]!() as Result } as NodeRpc;
}

test.each([
  { name: 'is up for as long as before', uptimes: [7, 7, 8], told: ['restarted', 'there', 'there'] },
  { name: 'was started again', uptimes: [7, 0, 1], told: ['restarted', 'restarted', 'there'] },
  { name: 'was started again a second after its start', uptimes: [1, 0], told: ['restarted', 'restarted'] },
])('a node that $name', async ({ uptimes, told }) => {
  vi.spyOn(performance, 'now').mockReturnValue(100_000);
  const watch = new NodeWatch(nodeThatIsUp(...uptimes), 6);
  const seen: string[] = [];
  for (const _ of uptimes) seen.push(await watch.look(false));
  expect(seen).toEqual(told);
  vi.restoreAllMocks();
});
