import type { BlockHashHex } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { grouped, sizeWords, timeWords } from '#web/format.ts';
import { html, type Markup } from '#web/html.ts';
import { type KnownFacts, knownOf } from '#web/known.ts';

export interface BlockLine extends KnownFacts {
  readonly height: Height;
  /** Hash in display order, in hex. */
  readonly hash: BlockHashHex;
  readonly time: number;
  readonly sizeBytes: number;
  readonly txCount: number;
  readonly inscriptionCount: number;
  /** Height of the first block of this block's island, which is a range of consecutive indexed blocks. */
  readonly islandHeight: Height;
}

/**
 * A table of blocks. If some blocks have unknown facts, a column says which facts are known, and why other facts are
 * unknown. Gaps between two rows are marked.
 */
export function blocksTable(blocks: readonly BlockLine[]): Markup {
  // in most lists everything is known, so a column would have the same useless words in each row
  const isAllKnown = blocks.every((block) => knownOf(block).unknown === null);
  return html`<div class="scroll"><table class="rows stacked blocks">
<thead><tr><th scope="col">Block</th><th scope="col" class="num">Inscriptions</th>${!isAllKnown && html`<th scope="col">Known facts, and why</th>`}<th scope="col">Time</th><th scope="col" class="num">Size</th></tr></thead>
<tbody>
${blocks.map((block, index) => blockRow(block, blocks[index + 1], isAllKnown))}
</tbody>
</table></div>`;
}

function blockRow(block: BlockLine, below: BlockLine | undefined, isAllKnown: boolean): Markup {
  const isGapBelow = below !== undefined && below.islandHeight !== block.islandHeight;
  return html`<tr>
  <th scope="row" data-label="Block"><a href="/block/${block.height}">${grouped(block.height)}</a></th>
  <td class="num" data-label="Inscriptions">${grouped(block.inscriptionCount)}</td>
  ${!isAllKnown && html`<td data-label="Known"><span>${knownOf(block).unknown === null ? html`<span class="chip yes">all</span>` : knownWords(block)}</span></td>`}
  <td class="faint nowrap" data-label="Time">${timeWords(block.time)}</td>
  <td class="num faint nowrap" data-label="Size">${sizeWords(block.sizeBytes)}</td>
</tr>
${isGapBelow && html`<tr class="gap"><td colspan="${isAllKnown ? 4 : 5}">${gapWords(block.height - below.height - 1)}</td></tr>`}`;
}

function gapWords(missing: number): string {
  return missing <= 0 ? 'another run of blocks' : `${grouped(missing)} blocks are not indexed`;
}

export function knownWords(facts: KnownFacts): Markup {
  const { known, unknown, why } = knownOf(facts);
  if (unknown === null) return html`<span class="chip yes">all</span> ${known}`;
  return html`<span class="chip part">part</span> ${known}. <span class="faint">Unknown: ${unknown}, because ${why}.</span>`;
}
