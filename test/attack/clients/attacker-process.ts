import { setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { scenarioNamed } from '#test/attack/all-scenarios.ts';
import { type AttackOrder, prolongedMs } from './messages.ts';
import { RawClient } from './raw-client.ts';

/** On the internet an attacker computes on its own machine: here the service goes before it. */
const niceness = 5;
/** Scenarios end by themselves; a request that hangs does not hold up the run. */
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
