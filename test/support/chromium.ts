import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { isExecutable, orSayWhy } from '#test/support/find-program.ts';

/** A browser without a window. It runs a page and its frames in one process, which halves the processor time. */
const shell = 'chromium-headless-shell';
/** Browsers with one process for each origin, like those of visitors. */
const whole = ['chromium', 'chromium-browser', 'google-chrome'];

/** A browser of the machine: the one that CHROMIUM names, or one on the path; `null` if there is no browser. */
function findChromium(names: readonly string[]): string | null {
  const given = process.env['CHROMIUM'];
  if (given !== undefined && given !== '') return given;
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const paths = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return paths.find(isExecutable) ?? null;
}

const missing = 'chromium is missing: the tests of the page are skipped (scripts/install-chromium.sh)';

/**
 * The fastest browser for a suite; `null` if the machine has none. Then one line says so, and with CI=true it is a
 * failure, so that tests of pages are never skipped unnoticed.
 */
export const browserForTests = (): string | null => orSayWhy(findChromium([shell, ...whole]), missing);

/** A browser with a process for each origin, for contents that attack their page. */
export const wholeBrowserForTests = (): string | null => orSayWhy(findChromium(whole), missing);

/** Starts a headless browser that makes no network requests of its own. */
export async function launchChromium(
  executablePath: string,
  flags: readonly string[] = [],
): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      // the browser's sandbox needs an ordinary account, but tests also run as root
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...flags,
    ],
  });
}
