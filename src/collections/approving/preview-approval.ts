import type pg from 'pg';
import { readFacts, slugFaults } from './approval-facts.ts';
import {
  type ApprovalFault,
  type ApprovalOptions,
  contentFaults,
  type SizeDifference,
  sizeDifferences,
  termFaults,
} from './approval-faults.ts';
import type { MarketListing } from './market-listing.ts';

/** The result that an approval would have now. */
export interface ApprovalPreview {
  /** The faults that are known before files are fetched. */
  readonly faults: readonly ApprovalFault[];
  /**
   * Number of files that would be fetched. `toFetchBytes` is the sum of the sizes that the creator sent, and null if
   * the size of one of these files was not sent.
   */
  readonly toFetch: number;
  readonly toFetchBytes: number | null;
  readonly differences: readonly SizeDifference[];
}

/** Shows the effect of an approval, without approving. Throws `mint_unknown`. */
export async function previewApproval(
  client: pg.Pool | pg.ClientBase,
  market: MarketListing,
  id: string,
  options: ApprovalOptions,
): Promise<ApprovalPreview> {
  const facts = await readFacts(client, id);
  const { files } = facts;
  const missing = files.filter(({ stored, url }) => stored === null && url !== null);
  const told = missing.flatMap(({ toldBytes }) => toldBytes ?? []);
  return {
    faults: [
      ...(await slugFaults(market, client, id)),
      ...termFaults(facts),
      ...contentFaults(files, options),
    ],
    toFetch: missing.length,
    toFetchBytes: told.length === missing.length ? told.reduce((sum, bytes) => sum + bytes, 0) : null,
    differences: sizeDifferences(files),
  };
}
