import { type Attack, get, json, pick, post, type Scenario } from '#test/attack/scenario.ts';

/** A request of 443 bytes that asks for 60 MB, because it lists five large galleries. */
const galleriesOf = ({ targets }: Attack): Uint8Array =>
  post('/inscriptions', JSON.stringify(targets.galleries.slice(0, 5)));

/** Requests for every kind of large answer. */
function largeAnswers(attack: Attack): readonly Uint8Array[] {
  const { galleries, bodies, longTexts, metadata } = attack.targets;
  return [
    galleriesOf(attack),
    get(`/inscription/${pick(attack, galleries)}`, json),
    get(`/content/${pick(attack, bodies)}`),
    get(`/preview/${pick(attack, longTexts)}`),
    get(`/r/metadata/${pick(attack, metadata)}`),
    get('/search?text=hurtful&itemsPerPage=1000'),
    get('/indexer/metadata?title=Gallery&itemsPerPage=1000'),
    get(`/indexer/inscription?id=${pick(attack, bodies)}`),
    get('/inscriptions?limit=1000', json),
    get('/events?from=1'),
    get('/openapi.json'),
    get('/?text=hurtful', { accept: 'text/html' }),
  ];
}

/** Attacks by clients that request much, and read it slowly or not at all. */
export const readerScenarios: readonly Scenario[] = [
  {
    name: 'readers-galleries',
    what: '60 unread answers of 60 MB',
    run: (attack) => attack.hold(60, galleriesOf(attack), { reads: false }),
  },
  {
    name: 'readers-bodies',
    what: '200 unread bodies of 4 MB',
    run: (attack) =>
      attack.hold(200, get(`/content/${pick(attack, attack.targets.bodies)}`), { reads: false }),
  },
  {
    name: 'readers-all',
    what: 'every kind of large answer, ten times each, unread',
    run: async (attack) => {
      const held = largeAnswers(attack).map((request) => attack.hold(10, request, { reads: false }));
      await Promise.all(held);
    },
  },
  {
    name: 'readers-slow',
    what: 'every kind of large answer, read with 10 kB a second by 100 clients',
    run: (attack) =>
      attack.loops(100, async () => {
        const socket = attack.connect();
        socket.pause();
        socket.write(pick(attack, largeAnswers(attack)));
        while (!attack.isOver && !socket.destroyed) {
          await attack.pause(100);
          socket.read(1000);
        }
        socket.destroy();
      }),
  },
  {
    name: 'readers-abort',
    what: 'every kind of request, reset at any moment of its answer',
    run: (attack) =>
      attack.loops(20, async () =>
        attack.exchange(pick(attack, largeAnswers(attack)), { abortAfterMs: attack.random.below(100) }),
      ),
  },
];
