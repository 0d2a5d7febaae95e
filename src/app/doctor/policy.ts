import { isKnots } from '#kernel/bitcoin/node-name.ts';
import { standingOf, usualFeeRate } from '#orders/sending/node-standing.ts';
import { type DataCarrier, dataCarrierOf } from '#psbts/burning/data-carrier.ts';
import { advice, broken, type Finding, ok } from './finding.ts';

/** Policy of a node. Rates are in sats per 1,000 virtual bytes. */
export interface PolicyFacts {
  readonly isKnots: boolean;
  readonly minRelayFeeRate: bigint;
  readonly incrementalFeeRate: bigint;
  readonly dataCarrier: DataCarrier;
  /** Null: the node does not tell, because every transaction can be replaced (Bitcoin Core 28 and newer). */
  readonly isFullRbf: boolean | null;
}

/** The fields of a node's reply. */
export type NodeReply = Readonly<Record<string, unknown>>;

/** Maximum bytes of a runestone that the ord protocol expects nodes to relay (Bitcoin Core before 30). */
const usualCarrierBytes = 83;

/** The policy of a node, from its replies to `getmempoolinfo` and `getnetworkinfo`. Throws `node_answer_invalid`. Pure. */
export function policyOf(mempool: NodeReply, network: NodeReply): PolicyFacts {
  const { minRelayFeeRate, incrementalFeeRate } = standingOf(mempool, {});
  const { fullrbf } = mempool;
  return {
    isKnots: isKnots(network['subversion']),
    minRelayFeeRate,
    incrementalFeeRate,
    dataCarrier: dataCarrierOf(mempool, network),
    isFullRbf: typeof fullrbf === 'boolean' ? fullrbf : null,
  };
}

/** Judges the policy of a node. Pure. */
export function judgePolicy(
  { isKnots: refusesReveals, minRelayFeeRate, incrementalFeeRate, dataCarrier, isFullRbf }: PolicyFacts,
  takesOrders: boolean,
): Finding[] {
  const findings: Finding[] = [];
  // a policy that refuses transactions is a fault only for a service that sends some
  const refusal = takesOrders ? broken : advice;
  if (refusesReveals)
    findings.push(
      refusal(
        'policy.reveals',
        'The node is Bitcoin Knots, whose mempool accepts no reveal of an inscription, with any setting.',
        'To take orders, and to see pending inscriptions, use Bitcoin Core. Knots is enough for an index of blocks.',
      ),
    );
  if (dataCarrier.bytesMax < usualCarrierBytes)
    findings.push(
      refusal(
        'policy.data-carrier',
        `The node relays OP_RETURN outputs of at most ${dataCarrier.bytesMax} bytes: it refuses transactions of runes.`,
        'Remove datacarrier and datacarriersize from bitcoin.conf, and restart the node.',
      ),
    );
  if (minRelayFeeRate > usualFeeRate)
    findings.push(
      advice(
        'policy.relay-fee',
        `The node relays no transaction below ${shownRate(minRelayFeeRate)} sat/vB: cheaper payments of customers are not seen before they are in a block.`,
        'Remove minrelaytxfee from bitcoin.conf, and restart the node.',
      ),
    );
  if (incrementalFeeRate > usualFeeRate)
    findings.push(
      advice(
        'policy.incremental-fee',
        `A replacement must pay ${shownRate(incrementalFeeRate)} sat/vB more than what it replaces: raised fees cost more than needed.`,
        'Remove incrementalrelayfee from bitcoin.conf, and restart the node.',
      ),
    );
  if (isFullRbf === false)
    findings.push(
      advice(
        'policy.full-rbf',
        'The node accepts replacements only of transactions that allow it: it misses other replacements that miners accept.',
        'Remove mempoolfullrbf from bitcoin.conf, or update the node.',
      ),
    );
  if (findings.length > 0) return findings;
  return [
    ok(
      'policy.relay',
      `The node relays from ${shownRate(minRelayFeeRate)} sat/vB, replacements from ${shownRate(incrementalFeeRate)} sat/vB more, and OP_RETURN outputs of ${dataCarrier.bytesMax} bytes.`,
    ),
  ];
}

/** A rate in sats per virtual byte. */
const shownRate = (rate: bigint): string => String(Number(rate) / 1000);
