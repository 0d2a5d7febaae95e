import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { SatTracer } from '#sat-ranges/sat-tracer.ts';
import { buildCheckedApp } from '#test/support/http/checked-app.ts';
import { readerParts } from '#test/support/http/reader-parts.ts';
import type { IndexedNode } from '#test/support/utxos/indexed-node.ts';
import { utxosOfIndex } from '#test/support/utxos/utxos-of-index.ts';
import { shortChainSatributes } from './coin-parts.ts';

/** An app with the builders of PSBTs over an indexed chain, and with the pages of their results. */
export function psbtApp(
  {
    database,
    bitcoind,
    tracer,
  }: Pick<IndexedNode, 'database' | 'bitcoind'> & { readonly tracer: SatTracer | null },
  more: Partial<AppDependencies> = {},
): App {
  return buildCheckedApp({
    ...readerParts(database.readers),
    node: bitcoind.rpc,
    satTracer: tracer,
    satributes: shortChainSatributes,
    utxos: utxosOfIndex(database.readers, bitcoind.rpc, tracer),
    ...more,
  });
}
