import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scenarioNamed } from './all-scenarios.ts';
import { AttackRun } from './attack-run.ts';
import { smallChain } from './chain/hurtful-chain.ts';
import { ServiceUnderAttack } from './service/service-under-attack.ts';
import { faultsOf, timelessBounds } from './verdict.ts';

/**
 * Scenarios whose harm shows in two seconds, as an error for others or a 5xx, however busy the machine is; `npm run
 * attack` has all, and shows their costs. One process suffers one after another.
 */
const scenarios = ['streams-aborted', 'market-aborted', 'keys-unknown', 'values-odd', 'foreign-bytes'];
const seconds = 2;
/** All odd values on all paths, and many times the unknown keys that an address may send. */
const answersLeast = 400;

// other systems have one loopback address, and no /proc
describe.skipIf(process.platform !== 'linux')('a service that is attacked from one address', () => {
  let service: ServiceUnderAttack;
  let run: AttackRun;

  beforeAll(async () => {
    service = ServiceUnderAttack.prepare(smallChain);
    run = new AttackRun(service, timelessBounds);
    await run.begin({ isFresh: false });
  });

  afterAll(async () => {
    run.end();
    await service.remove();
  });

  test.each(scenarios)('serves others as before: %s', async (name) => {
    const measured = await run.run(scenarioNamed(name), seconds, answersLeast);
    expect(Object.keys(measured.tally), 'the attacker got through').not.toEqual([]);
    expect(faultsOf(measured, timelessBounds)).toEqual([]);
  });
});
