import { get, type Scenario } from '#test/attack/scenario.ts';

const live = get('/events', { accept: 'text/event-stream' });
const fromTheFirst = get('/events?from=1');

/** Attacks with streams of events. Each stream occupies a slot until its client closes it. */
export const streamScenarios: readonly Scenario[] = [
  {
    name: 'streams-aborted',
    what: 'streams of events that are reset before their first byte, as many as fit',
    run: (attack) =>
      attack.loops(50, async () => attack.exchange(live, { abortAfterMs: attack.random.below(4) })),
  },
  {
    name: 'streams-held',
    what: '1,000 streams of events that stay open',
    run: (attack) => attack.hold(1000, live),
  },
  {
    name: 'streams-unread',
    what: '200 streams of all events whose bytes are never read',
    run: (attack) => attack.hold(200, fromTheFirst, { reads: false }),
  },
  {
    name: 'streams-reread',
    what: 'all events from the first on, again and again, by 20 clients',
    run: (attack) => attack.loops(20, async () => attack.exchange(fromTheFirst)),
  },
];
