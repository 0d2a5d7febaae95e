import { type Attack, get, json, pick, post, type Scenario } from '#test/attack/scenario.ts';

/** Valid outpoints that are all different. */
function outpoints({ targets, random }: Attack, count: number): string {
  const { payments } = targets.hoard;
  const from = random.below(1000);
  return JSON.stringify(
    Array.from({ length: count }, (_, index) => {
      const { txid, outputs } = payments[index % payments.length]!;
      return `${txid}:${(from + index) % outputs}`;
    }),
  );
}

/** Attacks on the index of addresses. One address has almost 100,000 outputs, which is the maximum of one answer. */
export const addressScenarios: readonly Scenario[] = [
  {
    name: 'address-hoard',
    what: 'an address of 98,000 outputs, as JSON and as a page, by ten clients',
    run: (attack) =>
      attack.loops(10, async () => {
        const headers = pick(attack, [json, json, { accept: 'text/html' }]);
        await attack.exchange(get(`/address/${attack.targets.hoard.address}`, headers));
      }),
  },
  {
    name: 'address-outputs',
    what: 'its outputs, all and in pages of 1,000, by ten clients',
    run: (attack) =>
      attack.loops(10, async () => {
        const path = `/outputs/${attack.targets.hoard.address}`;
        await attack.exchange(get(pick(attack, [path, `${path}?limit=1000`, `${path}?type=cardinal`]), json));
      }),
  },
  {
    name: 'address-inscribed',
    what: 'its outputs with inscriptions, of which there are 3,500, by ten clients',
    run: (attack) =>
      attack.loops(10, async () =>
        attack.exchange(get(`/outputs/${attack.targets.hoard.address}?type=inscribed`, json)),
      ),
  },
  {
    name: 'outputs-many',
    what: 'lists of 1,000, 5,000 and 10,000 outpoints that all exist, by ten clients',
    run: async (attack) => {
      const requests = [1_000, 1_000, 5_000, 10_000].map((count) =>
        post('/outputs', outpoints(attack, count)),
      );
      await attack.loops(10, async () => attack.exchange(pick(attack, requests)));
    },
  },
];
