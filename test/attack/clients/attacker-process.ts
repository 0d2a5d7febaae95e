import { setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { scenarioNamed } from '#test/attack/all-scenarios.ts';
import { type AttackOrder, prolongedMs } from './messages.ts';
import { RawClient } from './raw-client.ts';

/**
 * Priority of the attacker's process, which is lower than the service's. On the internet, an attacker computes on its
 * own machine.
 */
const niceness = 5;
/**
 * How long the process waits if a scenario does not end by itself, in ms. A request that hangs does not delay the run.
 */
const graceMs = 200;

process.once('message', (order: AttackOrder) => {
  void (async () => {
    setPriority(niceness);
    const client = new RawClient(order);
    const ended = scenarioNamed(order.scenario).run(client);
    const longerMs = order.answersLeast > 0 ? prolongedMs : 0;
    await Promise.race([ended, delay(order.seconds * 1000 + longerMs + graceMs)]);
    process.send?.(client.tally);
  })();
});
