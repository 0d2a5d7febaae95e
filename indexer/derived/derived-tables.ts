import type { DerivedTable } from './derived-table.ts';
import { outputs } from './outputs/outputs.ts';
import { parentChildren } from './parent-children/parent-children.ts';
import { properties } from './properties/properties.ts';
import { runes } from './runes/runes.ts';
import { sales } from './sales/sales.ts';
import { sats } from './sats/sats.ts';

/** Every derived table, in the order in which rows are written. */
export const derivedTables: readonly DerivedTable[] = [
  parentChildren,
  properties,
  outputs,
  runes,
  sats,
  sales,
];
