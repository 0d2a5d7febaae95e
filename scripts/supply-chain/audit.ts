/**
 * Reads the advisories about locked packages. If the registry does not answer, it says that none were read.
 *
 *   npm run audit                    ends with 1 if the product has an advisory of severity high or critical
 *   npm run audit -- --required      ends with 2 if the registry does not answer
 *   npm run audit -- FOLDER          reads another lock file
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

type Severity = 'info' | 'low' | 'moderate' | 'high' | 'critical';

interface Vulnerability {
  readonly name: string;
  readonly severity: Severity;
  readonly via: readonly (string | { readonly title: string; readonly url: string })[];
}

interface Report {
  readonly vulnerabilities?: Readonly<Record<string, Vulnerability>>;
  readonly message?: string;
  readonly error?: { readonly summary?: string };
}

const [folder] = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const root = folder ?? join(import.meta.dirname, '../..');
const severe: ReadonlySet<Severity> = new Set(['high', 'critical']);

const product = audit(['--omit=dev']);
const all = audit([]);
if ('failure' in product || 'failure' in all) {
  const why = 'failure' in product ? product.failure : 'failure' in all ? all.failure : '';
  console.log(`advisories: none were read, the registry does not answer this question (${why})`);
  if (process.argv.includes('--required')) process.exitCode = 2;
} else {
  const ofProduct = new Set(product.found.map(({ name }) => name));
  const ofTools = all.found.filter(({ name }) => !ofProduct.has(name));
  for (const vulnerability of product.found) say('product', vulnerability);
  for (const vulnerability of ofTools) say('development', vulnerability);
  console.log(
    `advisories: ${product.found.length} packages of the product, ${ofTools.length} of development`,
  );
  if (product.found.some(({ severity }) => severe.has(severity))) process.exitCode = 1;
}

function say(where: string, { name, severity, via }: Vulnerability): void {
  for (const advisory of via) {
    // a text is only the name of the package that has the advisory; that package has its own line
    if (typeof advisory !== 'string')
      console.log(`${where}: ${severity}: ${name}: ${advisory.title} (${advisory.url})`);
  }
}

function audit(
  flags: readonly string[],
): { readonly found: readonly Vulnerability[] } | { readonly failure: string } {
  const { stdout, error } = spawnSync(
    'npm',
    ['audit', '--json', '--package-lock-only', '--fetch-retries=0', '--fetch-timeout=30000', ...flags],
    { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, timeout: 120_000 },
  );
  if (error !== undefined) return { failure: error.message };
  try {
    const report = JSON.parse(stdout) as Report;
    if (report.vulnerabilities === undefined) {
      const words = report.message ?? report.error?.summary ?? 'no report';
      // the status without the URL of the request
      return { failure: words.split(' - ', 1)[0] ?? words };
    }
    return { found: Object.values(report.vulnerabilities) };
  } catch {
    return { failure: 'no report' };
  }
}
