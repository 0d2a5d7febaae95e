import { shortHash, sizeWords, timeWords } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';
import { fact, feeRateWords, satsWords, unknownWords } from '#web/parts/facts.ts';
import {
  addressLink,
  contentHashLink,
  copyButton,
  inscriptionLink,
  outputLink,
  transactionLink,
} from '#web/parts/identifiers.ts';
import { recordJson } from '#web/parts/record-json.ts';
import { stage } from '#web/parts/stage.ts';
import { isolated, strangersName } from '#web/parts/strangers-text.ts';
import { traitList } from '#web/parts/trait-list.ts';
import type { Trait } from '#web/titles-and-traits.ts';

/** An inscription whose transaction is in the mempool. */
export interface PendingInscriptionView {
  readonly site: Site;
  readonly id: string;
  readonly txid: string;
  /** Title from the inscription's metadata or properties. It is a stranger's text. */
  readonly title: string | null;
  readonly traits: readonly Trait[];
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
  /** `null` if the inscription has no body of its own. */
  readonly sizeBytes: number | null;
  readonly contentHash: string | null;
  readonly delegate: string | null;
  readonly metaprotocol: string | null;
  readonly metadataJson: string | null;
  /** Parents that the inscription claims. The block with the inscription decides whether they are valid. */
  readonly claimedParents: readonly string[];
  /** Time at which this server first saw the inscription, in Unix seconds. */
  readonly firstSeen: number;
  /** Fee in sats. `null` if unknown. */
  readonly fee: number | null;
  readonly vsize: number;
  readonly replaces: readonly string[];
  readonly place: 'output' | 'fee' | 'unbound' | 'unknown';
  /** The output that would contain the inscription. */
  readonly outpoint: string | null;
  readonly address: string | null;
}

/**
 * The page of an inscription that is not in a block yet. It shows the known facts, and a note that they may still
 * change.
 */
export function pendingInscriptionPage(view: PendingInscriptionView): Markup {
  const { site, id, title, contentHash, metadataJson } = view;
  const name = title ?? `Inscription ${shortHash(id)}`;
  return layout({
    title: `${name} · Waits for a block · Satscribe`,
    description: `An inscription that waits in the mempool: ${id}.`,
    site,
    main: html`<article class="inscription">
<div class="stage">
  ${stage({ id, effectiveContentType: view.contentType, runs: null })}
  <p class="tools">
    <a class="button" href="/preview/${id}" target="_blank" rel="noopener">Open alone</a>
    <a class="button" href="/content/${id}" download>Download</a>
    ${contentHash !== null && html`<a class="button" href="/?hash=${contentHash}">Equal contents</a>`}
  </p>
</div>
<div class="about">
  <h1 class="wrap">${title === null ? name : strangersName(title)}</h1>
  <p class="copied"><span class="mono wrap faint">${id}</span>${copyButton(id)}</p>
  <p><span class="chip part">waits in the mempool</span> No block contains it yet. The block will decide its number, its sat and whether its parents are valid. Reload to see its state.</p>
  ${traitList(view.traits)}
  <dl class="pairs">${facts(view)}</dl>
  ${recordJson('Metadata', metadataJson)}
</div>
</article>`,
  });
}

const places = {
  output: 'an output of its transaction',
  fee: 'the fee: the miner of its block would get it',
  unbound: 'no sat: it would be unbound',
  unknown: null,
} as const;

function facts(view: PendingInscriptionView): HtmlValue {
  const { fee, vsize, replaces, claimedParents, delegate, outpoint, address } = view;
  const optional = (name: string, value: string | null): HtmlValue =>
    value !== null && fact(name, isolated(value));
  return [
    fact('Transaction', transactionLink(view.txid)),
    fact('Seen', timeWords(view.firstSeen)),
    fact(
      'Fee',
      fee === null
        ? unknownWords('an output that it spends is unknown')
        : html`${satsWords(fee)}, ${feeRateWords(fee, vsize)}`,
    ),
    replaces.length > 0 &&
      fact(
        'Replaces',
        replaces.map((txid) => html`${transactionLink(txid)} `),
      ),
    fact('Content type', isolated(view.contentType) ?? html`<span class="faint">none</span>`),
    fact(
      'Content',
      view.sizeBytes === null ? html`<span class="faint">no body</span>` : sizeWords(view.sizeBytes),
    ),
    optional('Encoding', view.contentEncoding),
    view.contentHash !== null && fact('sha256', contentHashLink(view.contentHash)),
    delegate !== null && fact('Delegate', inscriptionLink({ id: delegate, number: null })),
    fact(
      'Would be in',
      outpoint === null ? (places[view.place] ?? unknownWords(null)) : outputLink(outpoint),
    ),
    address !== null && fact('Address', addressLink(address, { isWhole: true })),
    optional('Metaprotocol', view.metaprotocol),
    claimedParents.length > 0 &&
      fact(
        'Claims as parents',
        claimedParents.map((id) => html`${inscriptionLink({ id, number: null })} `),
      ),
  ];
}
