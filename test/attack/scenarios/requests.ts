import { type Attack, get, json, pick, post, type Scenario } from '#test/attack/scenario.ts';

const txidOf = (id: string): string => id.slice(0, 64);

/** Values that a schema or a handler may not expect. */
const oddValues = [
  'Infinity',
  '-0',
  '1e400',
  'NaN',
  '%00',
  '%ff',
  '..%2f..',
  '99999999999999999999',
  // infinite if it is read as a number
  '9'.repeat(400),
  '_',
  '%E2%80%AE',
];
const oddPaths = (value: string): readonly string[] => [
  `/events/text/${value}`,
  `/events/hashes?from=${value}`,
  `/events?from=${value}`,
  `/block/${value}`,
  `/r/blockhash/${value}`,
  `/inscription/${value}`,
  `/inscriptions/block/${value}/${value}`,
  `/gallery/${value}/${value}`,
  `/input/${value}/${value}/${value}`,
  `/output/${value}`,
  `/r/utxo/${value}`,
  `/outputs/${value}`,
  `/inscriptions?limit=${value}&cursor=${value}`,
  `/search?hash=${value}`,
  `/search/${value}`,
  `/mempool/transfers?limit=${value}`,
  `/mempool/sales?slug=${value}`,
  `/content/${value}`,
  `/${value}`,
];

/** Paths of data that the index does not have. The service reads the data from blocks of 4 MB. */
function rawPaths({ targets, random }: Attack): readonly string[] {
  const id = targets.bodies[random.below(targets.bodies.length)]!;
  const height = targets.tipHeight - random.below(8);
  return [
    `/decode/${txidOf(id)}`,
    `/tx/${txidOf(id)}`,
    `/r/tx/${txidOf(id)}`,
    `/r/block/${height}`,
    `/r/blockinfo/${height}`,
    `/block/${height}`,
    `/input/${height}/1/0`,
    `/output/${txidOf(id)}:0`,
  ];
}

/** Attacks with requests that are cheap to send, in every form of HTTP. */
export const requestScenarios: readonly Scenario[] = [
  {
    name: 'look-ups',
    what: 'look-ups as fast as they are answered, by 100 clients',
    run: (attack) =>
      attack.loops(100, async () =>
        attack.exchange(get(`/inscription/${pick(attack, attack.targets.ordinary)}`, json)),
      ),
  },
  {
    name: 'urls-long',
    what: 'URLs of 20 kB on every kind of path, by 30 clients',
    run: (attack) => {
      const long = 'a'.repeat(20_000);
      const paths = [
        `/${long}`,
        `/search?text=${long}`,
        `/?text=${long}`,
        `/inscription/${long}`,
        `/r/${long}?${long}`,
      ];
      return attack.loops(30, async () => attack.exchange(get(pick(attack, paths))));
    },
  },
  {
    name: 'parameters-many',
    what: 'queries of 5,000 parameters, by 30 clients',
    run: (attack) => {
      const many = Array.from({ length: 5000 }, (_, index) => `k${index}`).join('&');
      const nested = `text=a&${'a[b][c]=1&'.repeat(2500)}`;
      const paths = [
        `/search?${many}`,
        `/search?${nested}`,
        `/inscriptions?${many}`,
        `/search/facets?${many}`,
      ];
      return attack.loops(30, async () => attack.exchange(get(pick(attack, paths))));
    },
  },
  {
    name: 'cookies-large',
    what: 'cookies of 60 kB with 10,000 names, by 30 clients',
    run: (attack) => {
      const cookie = Array.from({ length: 10_000 }, () => 'a=b').join('; ');
      return attack.loops(30, async () => attack.exchange(get('/?text=a', { cookie })));
    },
  },
  {
    name: 'heads',
    what: 'HEAD of every kind of large answer, by 30 clients',
    run: (attack) => {
      const { bodies, galleries } = attack.targets;
      return attack.loops(30, async () => {
        const paths = [
          `/content/${pick(attack, bodies)}`,
          `/inscription/${pick(attack, galleries)}`,
          '/inscriptions',
        ];
        await attack.exchange(get(pick(attack, [...paths, '/events', '/search?text=hurtful']), json, 'HEAD'));
      });
    },
  },
  {
    name: 'options',
    what: 'preflights from ever new origins, by 50 clients',
    run: (attack) =>
      attack.loops(50, async () => {
        const headers = {
          origin: `https://${attack.random.u32()}.example`,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'x-api-key, '.repeat(100),
        };
        await attack.exchange(get('/search/hashes', headers, 'OPTIONS'));
      }),
  },
  {
    name: 'methods',
    what: 'every method on every kind of path, by 30 clients',
    run: (attack) =>
      attack.loops(30, async () => {
        const method = pick(attack, ['PUT', 'DELETE', 'PATCH', 'TRACE', 'CONNECT', 'PROPFIND', 'REPORT']);
        await attack.exchange(get(pick(attack, ['/search', '/content/a', '/', '/missing']), {}, method));
      }),
  },
  {
    name: 'paths-unknown',
    what: 'always new unknown paths, as JSON and as pages, by 50 clients',
    run: (attack) =>
      attack.loops(50, async () => {
        const headers = pick(attack, [json, { accept: 'text/html' }]);
        await attack.exchange(get(`/${attack.random.u32().toString(36)}/${attack.random.u32()}`, headers));
      }),
  },
  {
    name: 'values-odd',
    what: 'values that no path expects, on all of them, by 20 clients',
    run: (attack) => {
      const paths = oddValues.flatMap((value) => oddPaths(value));
      let turns = 0;
      return attack.loops(20, async () => {
        const path = paths[turns++ % paths.length]!;
        await attack.exchange(get(path, json), { abortAfterMs: 1000 });
      });
    },
  },
  {
    name: 'blocks-raw',
    what: 'transactions and blocks of 4 MB that are read and decoded for each answer, by ten clients',
    run: (attack) => attack.loops(10, async () => attack.exchange(get(pick(attack, rawPaths(attack)), json))),
  },
  {
    name: 'lists-wide',
    what: 'lists of inscriptions with filters that match few, by 20 clients',
    run: (attack) =>
      attack.loops(20, async () => {
        const filters = [
          'contentType=image/*',
          'contentType=text/*&cursed=true',
          'order=asc',
          'metaprotocol=none',
        ];
        await attack.exchange(get(`/inscriptions?limit=1000&${pick(attack, filters)}`, json));
      }),
  },
  {
    name: 'records-many',
    what: 'full records of 10,000 inscriptions in one request, by ten clients',
    run: async (attack) => {
      const { ordinary } = attack.targets;
      const ids = Array.from({ length: 10_000 }, (_, index) => ordinary[index % ordinary.length]!);
      const request = post('/inscriptions', JSON.stringify(ids));
      await attack.loops(10, async () => attack.exchange(request));
    },
  },
];
