import { get, pick, type Scenario } from '#test/attack/scenario.ts';

/** Attacks with bodies of 4 MB. The clients read single bytes, complete bodies, or nothing. */
export const contentScenarios: readonly Scenario[] = [
  {
    name: 'content-ranges',
    what: 'ranges of one byte of bodies of 4 MB, by 30 clients',
    run: (attack) =>
      attack.loops(30, async () => {
        const at = attack.random.below(3_000_000);
        await attack.exchange(
          get(`/content/${pick(attack, attack.targets.bodies)}`, { range: `bytes=${at}-${at}` }),
        );
      }),
  },
  {
    name: 'content-ranges-many',
    what: 'a thousand ranges of a body in one request, by 30 clients',
    run: async (attack) => {
      const range = `bytes=${Array.from({ length: 1000 }, (_, index) => `${index}-${index}`).join(',')}`;
      await attack.loops(30, async () =>
        attack.exchange(get(`/content/${pick(attack, attack.targets.bodies)}`, { range })),
      );
    },
  },
  {
    name: 'content-aborted',
    what: 'bodies of 4 MB, reset before they arrive, by 30 clients',
    run: (attack) =>
      attack.loops(30, async () =>
        attack.exchange(get(`/content/${pick(attack, attack.targets.bodies)}`), {
          abortAfterMs: attack.random.below(10),
        }),
      ),
  },
  {
    name: 'content-whole',
    what: 'bodies of 4 MB, read whole, by 20 clients',
    run: (attack) =>
      attack.loops(20, async () => attack.exchange(get(`/content/${pick(attack, attack.targets.bodies)}`))),
  },
  {
    name: 'content-pieces',
    what: 'bodies of one byte less than 256 KiB, which count as short, read with 10 kB a second by 200 clients',
    run: (attack) =>
      attack.loops(200, async () => {
        const socket = attack.connect();
        socket.pause();
        socket.write(get(`/content/${pick(attack, attack.targets.pieces)}`));
        while (!attack.isOver && !socket.destroyed && !socket.readableEnded) {
          await attack.pause(100);
          socket.read(1000);
        }
        socket.destroy();
      }),
  },
  {
    name: 'thumbnails',
    what: 'thumbnails of 49 million pixels, of 4 MB of noise and of bombs, half of them reset within 50 ms, by 40 clients',
    run: (attack) => {
      const { hostile, bodies, pictures } = attack.targets;
      return attack.loops(40, async () => {
        const path = `/thumbnails/${pick(attack, [...hostile, ...bodies, ...pictures])}.jpeg`;
        const abort = attack.random.below(2) === 0 ? { abortAfterMs: attack.random.below(50) } : {};
        await attack.exchange(get(path), abort);
      });
    },
  },
  {
    name: 'previews',
    what: 'previews of hostile pages, bombs and long texts, by 20 clients',
    run: (attack) => {
      const { hostile, longTexts } = attack.targets;
      return attack.loops(20, async () =>
        attack.exchange(
          get(`/preview/${pick(attack, [...hostile, ...longTexts])}`, { 'accept-encoding': 'br, gzip' }),
        ),
      );
    },
  },
];
