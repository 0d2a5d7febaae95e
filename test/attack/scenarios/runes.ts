import { get, json, pick, type Scenario } from '#test/attack/scenario.ts';

/** Attacks on a rune with 50,000 holders and 20,000 mints, and on an address that received units in each mint. */
export const runeScenarios: readonly Scenario[] = [
  {
    name: 'runes-pages',
    what: 'pages of 2,000 runes and single runes, by 20 clients',
    run: (attack) => {
      const { etched, held } = attack.targets.runes;
      return attack.loops(20, async () => {
        const number = attack.random.below(etched);
        const path = pick(attack, [
          `/runes/${Math.floor(number / 50)}`,
          '/runes',
          `/rune/${number}`,
          `/rune/${held}`,
        ]);
        await attack.exchange(get(path, json));
      });
    },
  },
  {
    name: 'runes-holders',
    what: 'holders of a rune that 50,000 have, by ten clients',
    run: (attack) =>
      attack.loops(10, async () =>
        attack.exchange(get(`/rune/${attack.targets.runes.held}/holders?limit=1000`, json)),
      ),
  },
  {
    name: 'runes-holders-at',
    what: 'its holders at ever other heights, by ten clients',
    run: (attack) => {
      const { tipHeight, runes } = attack.targets;
      return attack.loops(10, async () => {
        const at = tipHeight - attack.random.below(tipHeight - runes.firstHeight);
        await attack.exchange(get(`/rune/${runes.held}/holders?at=${at}&limit=1000`, json));
      });
    },
  },
  {
    name: 'runes-history',
    what: 'what an address got in 20,000 transactions, and its balances at any height, by ten clients',
    run: (attack) => {
      const { tipHeight, runes } = attack.targets;
      return attack.loops(10, async () => {
        const order = pick(attack, ['asc', 'desc']);
        const at = tipHeight - attack.random.below(tipHeight - runes.firstHeight);
        const path = pick(attack, [
          `history?order=${order}&limit=1000`,
          `history?order=${order}`,
          `?at=${at}`,
        ]);
        await attack.exchange(get(`/address/${runes.minter}/runes/${path}`.replace('/?', '?'), json));
      });
    },
  },
  {
    name: 'runes-activity',
    what: 'all that happened to it: 70,000 events in pages of 1,000, from both ends, by ten clients',
    run: (attack) =>
      attack.loops(10, async () => {
        const order = pick(attack, ['asc', 'desc']);
        const path = `/rune/${attack.targets.runes.held}/activity?order=${order}&limit=1000`;
        await attack.exchange(get(path, json));
      }),
  },
];
