import { type Attack, get, json, pick, type Scenario } from '#test/attack/scenario.ts';

/** A random txid that no transaction has. */
function unknownTxid({ random }: Attack): string {
  return Array.from({ length: 8 }, () => random.u32().toString(16).padStart(8, '0')).join('');
}

/** The txid of a random transaction of about 600 kB. The service reads the transaction's block from the node. */
const largeTxid = (attack: Attack): string => pick(attack, attack.targets.hoard.payments).txid;

/**
 * Attacks through a slow node. It needs 300 ms for each answer about transactions, and makes four answers at a time. A
 * walk through its transactions never ends.
 */
export const nodeScenarios: readonly Scenario[] = [
  {
    name: 'node-transactions',
    what: 'ever new transactions that only a slow node could know, and large ones of its blocks, by 50 clients',
    hasNode: true,
    run: (attack) =>
      attack.loops(50, async () => {
        const txid = attack.random.below(20) === 0 ? largeTxid(attack) : unknownTxid(attack);
        await attack.exchange(get(pick(attack, [`/tx/${txid}`, `/decode/${txid}`, `/r/tx/${txid}`]), json));
      }),
  },
  {
    name: 'node-outputs',
    what: 'ever new outputs that a slow node calls unspent, by 50 clients',
    hasNode: true,
    run: (attack) =>
      attack.loops(50, async () => {
        const outpoint = `${unknownTxid(attack)}:0`;
        await attack.exchange(get(pick(attack, [`/output/${outpoint}`, `/r/utxo/${outpoint}`]), json));
      }),
  },
  {
    name: 'node-sats',
    what: 'the sats of ever new outputs, whose walks through a slow node never end, by 50 clients',
    hasNode: true,
    run: (attack) =>
      attack.loops(50, async () => attack.exchange(get(`/outputs/${unknownTxid(attack)}:0/sats`, json))),
  },
  {
    name: 'node-aborted',
    what: 'all of these, reset within 50 ms, by 50 clients',
    hasNode: true,
    run: (attack) =>
      attack.loops(50, async () => {
        const txid = unknownTxid(attack);
        const paths = [`/tx/${txid}`, `/decode/${txid}`, `/output/${txid}:0`, `/outputs/${txid}:0/sats`];
        await attack.exchange(get(pick(attack, paths), json), { abortAfterMs: attack.random.below(50) });
      }),
  },
];
