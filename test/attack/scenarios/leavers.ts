import { type Attack, get, json, pick, post, type Scenario } from '#test/attack/scenario.ts';

/**
 * Number of connections of a client that sends a request, leaves at once, and sends the next request. A browser with
 * some tabs may have this number.
 */
const leavers = 25;
/** Maximum time before a client leaves, in ms. The client leaves at once, or while the first statements run. */
const staysMs = 3;

const stream = get('/events', { accept: 'text/event-stream' });
const html = { accept: 'text/html' };

/** A random request that costs the event loop or the database more than a look-up. */
function dearRequest(attack: Attack): Uint8Array {
  const { targets, random } = attack;
  const needle = encodeURIComponent(pick(attack, targets.needles));
  return pick<() => Uint8Array>(attack, [
    () => stream,
    () => get('/events?from=1'),
    () => get(`/events/text/${random.below(targets.tipHeight)}`),
    () => get(`/search?text=${needle}&itemsPerPage=100`),
    () => get(`/?text=${needle}`, html),
    () => get(`/search/facets?text=${needle}`),
    () => get(`/search/suggest?text=${needle.slice(0, 3)}`),
    () => get('/status', json),
    () => get('/metrics'),
    () => get('/health/ready', json),
    () => get('/inscriptions?limit=1000', json),
    () => get(`/address/${targets.hoard.address}`, json),
    () => get(`/outputs/${targets.hoard.address}`, json),
    () => get(`/rune/${targets.runes.held}/holders?limit=1000`, json),
    () => get(`/marketplace/data/collections?limit=100`, json),
    () => get('/openapi.json', json),
    () => get('/blocks', html),
    () => post('/price?plan=1', JSON.stringify({ order: {}, type: 'direct' })),
  ])();
}

const leave = (attack: Attack, request: () => Uint8Array): Promise<void> =>
  attack.loops(leavers, async () =>
    attack.exchange(request(), { abortAfterMs: attack.random.below(staysMs) }),
  );

/** Attacks by clients that leave before their answer is made. The service should do nothing for them any more. */
export const leaverScenarios: readonly Scenario[] = [
  {
    name: 'leavers-events',
    what: 'streams of events that their client leaves at once, on 25 connections',
    run: (attack) => leave(attack, () => stream),
  },
  {
    name: 'leavers-start',
    what: 'the same in the first seconds after the start of the service',
    isAtStart: true,
    run: (attack) => leave(attack, () => stream),
  },
  {
    name: 'leavers-dear',
    what: 'searches, reports, streams, pages and long lists that their client leaves at once, on 25 connections',
    run: (attack) => leave(attack, () => dearRequest(attack)),
  },
  {
    name: 'leavers-dear-start',
    what: 'the same in the first seconds after the start of the service',
    isAtStart: true,
    run: (attack) => leave(attack, () => dearRequest(attack)),
  },
];
