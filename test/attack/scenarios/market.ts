import { type Attack, get, json, pick, type Scenario } from '#test/attack/scenario.ts';
import { importSlugs } from '#test/attack/service/market-rows.ts';

const data = '/marketplace/data';

/** The slug of a random collection, which is an import of all items or a gallery of 121,000 items. */
const anySlug = (attack: Attack): string => pick(attack, [...importSlugs, ...attack.targets.galleries]);
const anImport = (attack: Attack): string => pick(attack, importSlugs);
const exportOf = (attack: Attack): Uint8Array =>
  get(`${data}/export?slug=${anImport(attack)}&format=${pick(attack, ['csv', 'ndjson'])}`);
const activityOf = (attack: Attack): string => {
  const page = pick(attack, [0, attack.random.below(2000)]);
  const order = pick(attack, ['asc', 'desc']);
  return `${data}/collections/activity?slug=${anImport(attack)}&startDate=2009-01-03&page=${page}&limit=100&order=${order}`;
};
const sold = get(`${data}/sales?since=0`);

/**
 * Attacks on the market. It has two imports of 40,000 items with 200,000 sales, and galleries that are also
 * collections.
 */
export const marketScenarios: readonly Scenario[] = [
  {
    name: 'market-lists',
    what: 'lists of collections by any text and order, and the market’s page, by ten clients',
    run: (attack) =>
      attack.loops(10, async () => {
        const text = pick(attack, ['hurtful', 'a', 'none', pick(attack, attack.targets.galleries)]);
        const list = `${data}/collections?q=${text}&sort=${pick(attack, ['volume', 'slug'])}&limit=100`;
        await attack.exchange(pick(attack, [get(list), get(`/market?q=${text}`, { accept: 'text/html' })]));
      }),
  },
  {
    name: 'market-stats',
    what: 'statistics and pages of every collection, long galleries too, by ten clients',
    run: (attack) =>
      attack.loops(10, async () => {
        const slug = anySlug(attack);
        const page = get(`/collection/${slug}`, { accept: 'text/html' });
        await attack.exchange(pick(attack, [get(`${data}/collections/${slug}/stats`), page]));
      }),
  },
  {
    name: 'market-holders',
    what: 'holders of every collection, and of ever other heights, by ten clients',
    run: (attack) =>
      attack.loops(10, async () => {
        const { tipHeight, sold: items } = attack.targets;
        const at = tipHeight - attack.random.below(tipHeight - items.height);
        const page = attack.random.below(400);
        const path = `${data}/collections/${anySlug(attack)}/holders?limit=100&page=${page}`;
        await attack.exchange(get(pick(attack, [path, `${path}&at=${at}`])));
      }),
  },
  {
    name: 'market-items',
    what: 'pages of items, far after the first, and collections of items, by ten clients',
    run: (attack) =>
      attack.loops(10, async () => {
        const { sold: items, ordinary } = attack.targets;
        const after = pick(attack, items.ids);
        const paths = [
          `${data}/collections/${anImport(attack)}/items?limit=100&after=${after}`,
          `${data}/collections/${pick(attack, attack.targets.galleries)}/items?limit=100`,
          `${data}/collections/of/${pick(attack, [after, pick(attack, ordinary)])}`,
        ];
        await attack.exchange(get(pick(attack, paths)));
      }),
  },
  {
    name: 'market-activity',
    what: 'pages of sales, the deepest too, from both ends, by ten clients',
    run: (attack) => attack.loops(10, async () => attack.exchange(get(activityOf(attack)))),
  },
  {
    name: 'market-exports',
    what: 'exports of 200,000 sales, read as fast as they come, by ten clients',
    run: (attack) => attack.loops(10, async () => attack.exchange(exportOf(attack))),
  },
  {
    name: 'market-exports-unread',
    what: '200 unread exports',
    run: (attack) => attack.hold(200, exportOf(attack), { reads: false }),
  },
  {
    name: 'market-exports-aborted',
    what: 'exports that are reset within 50 ms, by 30 clients',
    run: (attack) =>
      attack.loops(30, async () =>
        attack.exchange(exportOf(attack), { abortAfterMs: attack.random.below(50) }),
      ),
  },
  {
    name: 'market-streams',
    what: 'all sales of all collections as a stream, again and again, a third of them unread, by 20 clients',
    run: (attack) =>
      attack.loops(20, async () => {
        const isRead = attack.random.below(3) > 0;
        await attack.exchange(sold, isRead ? {} : { reads: false, abortAfterMs: 1000 });
      }),
  },
  {
    name: 'market-aborted',
    what: 'every question about collections, reset within 50 ms, by 30 clients',
    run: (attack) =>
      attack.loops(30, async () => {
        const slug = anySlug(attack);
        const paths = [
          activityOf(attack),
          `${data}/collections/${slug}/stats`,
          `${data}/collections/${slug}/holders?at=${attack.targets.tipHeight - attack.random.below(50)}`,
          `${data}/collections/${slug}/items`,
          `/collection/${slug}`,
        ];
        await attack.exchange(get(pick(attack, paths), json), { abortAfterMs: attack.random.below(50) });
      }),
  },
  {
    name: 'market-pending',
    what: 'pending sales of every collection and of an address, beside a slow node, by 20 clients',
    hasNode: true,
    run: (attack) =>
      attack.loops(20, async () => {
        const of = pick(attack, [`slug=${anySlug(attack)}`, `address=${attack.targets.hoard.address}`]);
        await attack.exchange(get(`/mempool/sales?${of}`));
      }),
  },
];
