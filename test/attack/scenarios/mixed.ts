import { type Attack, get, json, pick, post, type Scenario } from '#test/attack/scenario.ts';

/** A random request of any kind, expensive or cheap. */
function anyRequest(attack: Attack): Uint8Array {
  const { targets, random } = attack;
  const id = pick(
    attack,
    pick(attack, [targets.ordinary, targets.ordinary, targets.longTexts, targets.galleries]),
  );
  const needle = encodeURIComponent(pick(attack, targets.needles));
  const hashes = Array.from({ length: 100 }, () => random.u32().toString(16).padStart(64, '0'));
  return pick<() => Uint8Array>(attack, [
    () => get(`/inscription/${pick(attack, targets.ordinary)}`, json),
    () => get(`/inscription/${id}`, { accept: 'text/html', 'accept-encoding': 'br' }),
    () => get(`/r/inscription/${id}`),
    () => get(`/content/${id}`),
    () => get(`/content/${pick(attack, targets.bodies)}`, { range: `bytes=0-${random.below(100_000)}` }),
    () => get(`/preview/${id}`, { 'accept-encoding': 'br' }),
    () => get(`/gallery/${pick(attack, targets.galleries)}/${random.below(1000)}`, json),
    () => get(`/search?text=${needle}`),
    () => get(`/search?text=${needle}&words=1&fuzzy=1`),
    () => get(`/?text=${needle}`, { accept: 'text/html', 'accept-encoding': 'gzip' }),
    () => get(`/search/facets?text=${needle}`),
    () => get('/indexer/metadata?title=number'),
    () => get(`/block/${random.below(targets.tipHeight)}`, { accept: 'text/html' }),
    () => get('/events', { accept: 'text/event-stream' }),
    () => get('/events?from=1'),
    () => get(`/inscriptions?limit=${1 + random.below(1000)}`, json),
    () => get(`/${random.u32()}`),
    () => post('/search/hashes', JSON.stringify({ hashes })),
    () => post('/inscriptions', JSON.stringify([id])),
    () => post('/missing', '[', {}, 1000),
  ])();
}

/** The load of a soak test. No part of it is an attack, but all parts together are the load of a public service. */
export const mixedScenarios: readonly Scenario[] = [
  {
    name: 'quiet',
    what: 'nothing: what the good client feels of this machine alone',
    run: async (attack) => {
      while (!attack.isOver) await attack.pause(100);
    },
  },
  {
    name: 'mixed',
    what: 'requests of every kind by 20 clients, one in three reset and one in ten unread',
    run: (attack) =>
      attack.loops(20, async () => {
        const way = attack.random.unit();
        const abortAfterMs = way < 0.3 ? attack.random.below(100) : 2000;
        await attack.exchange(anyRequest(attack), { abortAfterMs, reads: way < 0.9 });
        await attack.pause(attack.random.below(400));
      }),
  },
];
