import { auditCollections, type CollectionDifference, mayBeMeant } from '#orders/audit/audit-collections.ts';
import { type Audit, type AuditParts, auditOrders } from '#orders/audit/audit-orders.ts';
import { auditPayouts, type PayoutDifference } from '#payouts/audit/audit-payouts.ts';
import { auditTokens } from '#tokenpay/audit/audit-tokens.ts';
import type { TokenDifference } from '#tokenpay/audit/token-differences.ts';

/** The results of all parts of an audit. */
export interface FoundByAudits {
  readonly audit: Audit;
  readonly payouts: readonly PayoutDifference[];
  readonly collections: readonly CollectionDifference[];
  readonly tokens: readonly TokenDifference[];
}

/** Audits orders, payouts, collections and accounts of shops, one after another. Changes nothing. */
export async function auditAll(parts: AuditParts): Promise<FoundByAudits> {
  return {
    audit: await auditOrders(parts),
    payouts: await auditPayouts(parts),
    collections: await auditCollections(parts),
    tokens: await auditTokens(parts),
  };
}

/** Without differences of collections that a creator may intend. */
export const unmeant = (found: FoundByAudits): FoundByAudits => ({
  ...found,
  collections: found.collections.filter((difference) => !mayBeMeant(difference)),
});
