import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** Widths in pixels of a small phone, a phone and a desktop. */
export const widths = [320, 390, 1280] as const;

/**
 * Code that runs in the page, and finds faults of its layout. Ids, hashes and texts of strangers may break, because
 * they have more letters.
 */
const layoutFaults = `(() => {
  const faults = [];
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) {
    const wide = [...document.querySelectorAll('body *')].filter((element) => {
      const { right, width } = element.getBoundingClientRect();
      return width > 0 && right > root.clientWidth + 1 && !element.closest('.scroll');
    });
    const name = (element) => element.tagName.toLowerCase() + (element.className ? '.' + element.className : '');
    faults.push('wider than the screen: ' + wide.slice(-3).map(name).join(', '));
  }
  // a wide table becomes a list on phones: two cells on one line would touch
  if (innerWidth <= 640) {
    const beside = [...document.querySelectorAll('.stacked tr:not(thead tr)')].find((row) =>
      [...row.cells].some((cell) => cell.getClientRects().length > 0 && cell.offsetWidth < row.clientWidth - 1));
    if (beside) faults.push('cells on one line: ' + beside.textContent.trim().replaceAll(/\\s+/gu, ' ').slice(0, 60));
  }
  for (const field of document.querySelectorAll('textarea'))
    if (field.scrollHeight > field.clientHeight + 1) faults.push('part of a field is hidden: ' + field.id);
  const walker = document.createTreeWalker(document.querySelector('main') ?? document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (parent.closest('script, style, svg, .unseen, .mono, .wrap, bdi, pre, .snippet, .found, [hidden]') || !parent.checkVisibility()) continue;
    for (const { 0: word, index } of node.data.matchAll(/(?<![\\p{L}\\p{N}])[\\p{L}\\p{N}]{2,14}(?![\\p{L}\\p{N}])/gu)) {
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const tops = new Set([...range.getClientRects()].filter(({ width }) => width > 0).map(({ top }) => Math.round(top)));
      if (tops.size > 1) faults.push('broken word: ' + word + ' in ' + parent.tagName.toLowerCase());
    }
  }
  return [...new Set(faults)];
})()`;

/**
 * Code that runs in the page, and finds targets that are too small for a finger. Each target must be at least 44 px
 * high, except links within a text (WCAG 2.5.5), and its word must be in the middle of that height.
 */
export const smallTargets = `(() => {
  const isInText = (element) => element.matches('a') && getComputedStyle(element).display === 'inline';
  const isOffCentre = (element) => {
    if (element.childElementCount > 0 || element.textContent.trim() === '' || !element.matches('a, button')) return false;
    const range = document.createRange();
    range.selectNodeContents(element);
    const [word, box] = [range.getBoundingClientRect(), element.getBoundingClientRect()];
    return Math.abs(word.top + word.bottom - box.top - box.bottom) > 12;
  };
  return [...document.querySelectorAll('a[href], button, summary, select, input:not([type=hidden], [type=radio], [type=checkbox], [type=file])')]
    .filter((element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && !isInText(element) && !element.closest('.skip'))
    .flatMap((element) => {
      const { height, width } = element.getBoundingClientRect();
      const name = element.outerHTML.slice(0, 90);
      if (width <= 1 || height >= 43.5) return isOffCentre(element) ? [name + ' has its word not in the middle'] : [];
      return [name + ' is ' + Math.round(height) + ' px high'];
    });
})()`;

/** Faults of the layout at each width. */
export async function layoutFaultsOf(page: Page): Promise<string[]> {
  const faults: string[] = [];
  for (const width of widths) {
    await page.setViewportSize({ width, height: 844 });
    const found = (await page.evaluate(layoutFaults)) as string[];
    faults.push(...found.map((fault) => `${width} px: ${fault}`));
  }
  return faults;
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly help: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

/** Findings of axe in the page, without the contents of frames, which are not ours. */
export async function axeFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const { violations } = (await page.evaluate(
    `axe.run(document, { iframes: false, resultTypes: ['violations'] })`,
  )) as AxeResult;
  return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes[0]?.html.slice(0, 160) ?? ''}`);
}
