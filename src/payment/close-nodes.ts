import { hostNetwork, isPublicHost } from '../nodes/host.ts';
import { nodeLimits } from '../nodes/node-limits.ts';
import type { CloseNode } from '../nodes/nodes.ts';

/** Fewer than decide: one computer can have many keys, and choose them close to a record. */
const nodesPerHost = nodeLimits.majority - 1;

/** The nodes, in their order, without those of a host that has enough. In private networks, all nodes may be on one host. */
export function ofManyHosts(nodes: readonly CloseNode[]): CloseNode[] {
  const counts = new Map<string, number>();
  return nodes.filter(({ node: { host } }) => {
    const network = hostNetwork(host);
    const count = (counts.get(network) ?? 0) + 1;
    counts.set(network, count);
    return count <= nodesPerHost || !isPublicHost(host);
  });
}

/** Whether a node stores a record at all: it has to know itself as one of the closest nodes. */
export function takes({ node, known }: CloseNode): boolean {
  return known.has(node.peerId);
}

/**
 * Whether a node stores a record that was paid to another one. It has to know both of them as closest nodes. Many of the
 * nodes that it knows may take no browsers, so a lookup does not find them.
 */
export function takesFor(node: CloseNode, payee: string): boolean {
  return takes(node) && node.known.has(payee);
}

/** Whether enough nodes would store a record that is paid to this node. @param closest of the record, closest first. */
export function isPayee(peerId: string, closest: readonly CloseNode[], quorum: number): boolean {
  return closeGroup(closest).filter((node) => takesFor(node, peerId)).length >= quorum;
}

/** Whether most of the closest nodes know a node as one of the closest. @param closest of an address, closest first. */
export function isClose(peerId: string, closest: readonly CloseNode[]): boolean {
  return closeGroup(closest).filter(({ known }) => known.has(peerId)).length >= nodeLimits.majority;
}

function closeGroup(closest: readonly CloseNode[]): readonly CloseNode[] {
  return closest.slice(0, nodeLimits.closeGroup);
}
