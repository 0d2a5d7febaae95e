/**
 * Writes the bill of materials of the product (CycloneDX): what `npm ci --omit=dev` installs on any platform, with
 * hashes and licences. npm makes it from the lock file alone. Packages for development are left out, and so is
 * everything that differs from run to run. So the same npm makes the same bytes from the same lock file.
 *
 *   npm run -s sbom > sbom.cdx.json
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { lockedPackages, readLock } from './lock-file.ts';

interface Component {
  readonly name: string;
  readonly 'bom-ref': string;
}

interface Bom {
  readonly metadata: { readonly timestamp?: string; readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

const root = join(import.meta.dirname, '../..');
const lock = readLock(root);
// not `--omit=dev`, because with it npm omits packages that the product shares with a tool
const product = new Set(
  lockedPackages(lock)
    .filter(({ isDevelopment }) => !isDevelopment)
    .map(({ name, version }) => `${name}@${version}`),
);
const made = execFileSync(
  'npm',
  ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'],
  // 530 packages make 500 kB. npm's warnings about the machine's settings do not concern the product, so they are
  // ignored
  { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, stdio: ['ignore', 'pipe', 'ignore'] },
);
console.log(JSON.stringify(reproducible(JSON.parse(made) as Bom), null, 2));

function reproducible(bom: Bom): unknown {
  const { timestamp: _, ...metadata } = bom.metadata;
  const own = metadata.component['bom-ref'];
  const isKept = (ref: string): boolean => ref === own || product.has(ref);
  return {
    ...bom,
    serialNumber: `urn:uuid:${uuidOf(lock)}`,
    metadata: {
      ...metadata,
      // npm would name the component after the folder
      component: { ...metadata.component, name: 'satscribe' },
    },
    components: bom.components
      .filter((component) => isKept(component['bom-ref']))
      .toSorted((a, b) => compare(a['bom-ref'], b['bom-ref'])),
    dependencies: bom.dependencies
      .filter(({ ref }) => isKept(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(isKept).toSorted(compare) }))
      .toSorted((a, b) => compare(a.ref, b.ref)),
  };
}

/** Makes a UUID of version 8 (RFC 9562) from a hash, which this version allows. */
function uuidOf(text: string): string {
  const hash = createHash('sha256').update(text).digest().subarray(0, 16);
  hash[6] = (hash[6]! & 0x0f) | 0x80;
  hash[8] = (hash[8]! & 0x3f) | 0x80;
  return hash.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/u, '$1-$2-$3-$4-$5');
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
