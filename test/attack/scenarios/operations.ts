import { type Attack, get, json, pick, type Scenario } from '#test/attack/scenario.ts';
import { addresses } from '#web/assets.ts';

/** Paths that answer under any load. They must not be a way around the budgets. */
const reports = ['/status', '/metrics', '/health/ready', '/health/live'];

/** Paths with answers of several megabytes. */
function largePaths({ targets }: Pick<Attack, 'targets'>): readonly string[] {
  const { galleries, hoard, runes } = targets;
  return [
    `/address/${hoard.address}`,
    `/outputs/${hoard.address}`,
    `/inscription/${galleries[0]}`,
    `/r/inscription/${galleries[0]}`,
    `/rune/${runes.held}/holders?limit=1000`,
    `/rune/${runes.held}/activity?limit=1000`,
    '/openapi.json',
  ];
}

export const operationScenarios: readonly Scenario[] = [
  {
    name: 'reports-flood',
    what: '`/status`, `/metrics` and both of `/health` as fast as they are answered, by 100 clients',
    run: (attack) => attack.loops(100, async () => attack.exchange(get(pick(attack, reports), json))),
  },
  {
    name: 'reports-metrics',
    what: '`/metrics` alone, on 200 connections',
    run: (attack) => attack.loops(200, async () => attack.exchange(get('/metrics'))),
  },
  {
    name: 'heads-large',
    what: 'HEAD of answers of megabytes, by 30 clients',
    run: (attack) =>
      attack.loops(30, async () => attack.exchange(get(pick(attack, largePaths(attack)), json, 'HEAD'))),
  },
  {
    name: 'compressed-large',
    what: 'answers of megabytes as brotli, by 20 clients',
    run: (attack) =>
      attack.loops(20, async () =>
        attack.exchange(get(pick(attack, largePaths(attack)), { ...json, 'accept-encoding': 'br' })),
      ),
  },
  {
    name: 'compressed-files',
    what: 'our own files and pages as brotli, again and again, by 50 clients',
    run: (attack) => {
      const paths = [addresses.style, addresses.script, '/openapi.json', '/', '/blocks'];
      const headers = { accept: 'text/html', 'accept-encoding': 'br' };
      return attack.loops(50, async () => attack.exchange(get(pick(attack, paths), headers)));
    },
  },
];
