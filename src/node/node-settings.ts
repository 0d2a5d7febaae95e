import type { NetworkName } from '#kernel/primitives/network.ts';

/** How a node lets us in. A cookie file is read anew whenever the node refuses what it held before. */
export type NodeAuth =
  | { readonly kind: 'none' }
  | { readonly kind: 'cookie'; readonly file: string }
  | { readonly kind: 'password'; readonly user: string; readonly password: string };

/** Where a node is. A user and password within `rpcUrl` are taken where `auth` is none. */
export interface NodeSettings {
  readonly rpcUrl: string;
  /** Left out: REST at the RPC address. */
  readonly restUrl?: string | undefined;
  readonly auth: NodeAuth;
  /** One ZMQ address for all topics; left out: asked of the node. */
  readonly zmq?: string | undefined;
  /** Refuse a node of another network. */
  readonly network?: NetworkName | undefined;
}
