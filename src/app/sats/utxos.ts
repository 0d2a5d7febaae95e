import type pg from 'pg';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { OutgoingHttp } from '#outgoing/outgoing-http.ts';
import type { SatTracer } from '#sat-ranges/sat-tracer.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import type { OperationsParts } from '#src/app/reports/operations.ts';
import { EsploraSource } from '#utxos/esplora-source.ts';
import { IndexSource } from '#utxos/index-source.ts';
import { ScanSource } from '#utxos/scan-source.ts';
import type { UtxoSource } from '#utxos/utxo.ts';
import { UtxoReader } from '#utxos/utxo-reader.ts';

export interface UtxoDependencies {
  readonly pool: pg.Pool;
  readonly network: NetworkName;
  readonly node: NodeRpc | null;
  readonly tracer: SatTracer | null;
  /** Absent in commands, which report no metrics. */
  readonly operations?: OperationsParts;
}

/** Opens the source of unspent outputs that the settings select: the index, ESPLORA_URL, or the node. */
export function openUtxos(
  { config, lifecycle }: CommandContext,
  { pool, network, node, tracer, operations }: UtxoDependencies,
): UtxoReader {
  const others: UtxoSource[] = [];
  if (config.esploraUrl !== undefined) {
    const http = new OutgoingHttp({ own: [config.esploraUrl] });
    lifecycle.add('outgoing requests', () => http.close());
    others.push(new EsploraSource(http, config.esploraUrl));
  }
  if (node !== null) {
    const scans = new ScanSource(node);
    operations?.metrics.watchQueue('scans of unspent outputs', () => scans.scanning);
    others.push(scans);
  }
  const index = new IndexSource(pool);
  return new UtxoReader({ pool, network, index, others, choice: config.utxoSource, node, tracer });
}
