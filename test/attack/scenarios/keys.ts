import { newApiKey } from '#accounts/api-key.ts';
import { get, type Scenario } from '#test/attack/scenario.ts';

/** Attacks on keys. A client that guesses keys must not lock out a client that has a key. */
export const keyScenarios: readonly Scenario[] = [
  {
    name: 'keys-unknown',
    what: 'unknown keys in the right form, from the address of the good client, by 20 clients',
    sharesAddress: true,
    run: (attack) =>
      attack.loops(20, async () => {
        const { key } = newApiKey();
        await attack.exchange(get('/search?text=a', { 'x-api-key': key, 'sec-fetch-site': 'cross-site' }));
      }),
  },
];
