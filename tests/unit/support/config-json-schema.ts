import { toJsonSchema } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import { serverConfigSchema } from '../../../src/config.ts';
import { limits } from '../../../src/limits.ts';
import type { ServerConfig } from '../../../src/server-config.ts';

type Annotations = { [key: string]: unknown };

const address = { description: 'A content address: 64 hex digits.' };
/** Descriptions of the parts of an entry. */
const entry = {
  properties: {
    title: { description: 'What the start page shows.' },
    address,
    description: { description: 'One or two sentences.' },
    icon: { description: 'The path of the icon within the site, such as img/icon.svg.' },
    cover: { description: 'The path of a wide picture within the site.' },
  },
};
const origin = '(\\[[0-9A-Fa-f:.]+\\]|[^\\s/?#@:\\[\\]]+)(:\\d{1,5})?/?';
const loopback = '(localhost|[^\\s/?#@:\\[\\]]+\\.localhost|127(\\.\\d{1,3}){3}|\\[::1\\])(:\\d{1,5})?/?';

/** Descriptions for editors, defaults, and a pattern for peers, which the gateway parses as URLs. */
const annotations: Record<keyof ServerConfig, Annotations> = {
  $schema: { description: 'Where this schema is, for editors. The gateway does not read it.' },
  peers: {
    description:
      'Where chunks come from. Their order does not matter. Without any, only what is stored in the browser can be opened.',
    items: {
      description:
        'An origin: https://, or http:// on loopback; "/" is the host of this file. #sha-256=… pins self-signed certificates. anttp+ or antd+ before it: AntTP, or the antd daemon.',
      anyOf: [
        { const: '/' },
        { pattern: `^https://${origin}(#sha-256=[0-9A-Fa-f]{64}(,[0-9A-Fa-f]{64})*)?$` },
        { pattern: `^(anttp|antd)\\+https://${origin}$` },
        { pattern: `^((anttp|antd)\\+)?http://${loopback}$` },
      ],
    },
    default: [],
    examples: [['/'], ['https://peer.example:4433', 'http://127.0.0.1:8080']],
  },
  usePeersOfPeers: {
    description: 'Whether peers that these peers name may be used too.',
    default: false,
  },
  transport: {
    description:
      'How peers are reached. auto: by WebTransport, or by HTTP where WebTransport does not work. Otherwise only by the named transport.',
    default: 'auto',
  },
  nodes: {
    description:
      'The network whose nodes a user may connect to without a peer: mainnet, or the multiaddresses of some nodes that listen for browsers. Nodes in private networks are used only if all of these are.',
    default: 'mainnet',
    examples: [
      [
        '/ip4/127.0.0.1/udp/10001/webrtc-direct/certhash/uEiAkAsFZc-iV5UToJHyETA8GLBIVdzB10Qv6VuNlwqTwkQ/p2p/57a89f84e1652d22fd6b791c29d83f187fbed3ba8e08e265fe3031b3a6f725da',
      ],
    ],
  },
  isolation: {
    description:
      "How sites are isolated from each other. auto: a site that can run scripts gets an origin of its own if the host has wildcard names. Otherwise as path. path: all sites share the gateway's origin. subdomain: each site has an origin of its own.",
    default: 'auto',
  },
  names: {
    description: 'Aliases of addresses: with "docs", /docs/… is the site at that address.',
    additionalProperties: address,
    default: {},
  },
  trusted: {
    description: 'Addresses whose documents may run scripts in path mode without asking the user.',
    items: address,
    default: [],
  },
  denied: {
    description: 'Addresses that this gateway never serves.',
    items: address,
    default: [],
  },
  reportUrl: {
    description:
      'Where users report a site to the operator of this gateway: an https:// or mailto: URL. {address} stands for the address of the site.',
    examples: [
      'https://gateway.example/report?address={address}',
      'mailto:abuse@gateway.example?subject={address}',
    ],
  },
  sample: { description: 'The site that the start page recommends first.', ...entry },
  catalogue: {
    description: 'Further sites that the start page recommends.',
    items: entry,
    maxItems: limits.listEntries,
    default: [],
  },
  lists: {
    description: 'Lists of sites for the start page: title and address, usually of a pointer.',
    additionalProperties: address,
    default: {},
  },
  nameLists: {
    description:
      'Lists of names: the label that stands behind the @ of each name, and the address of the list, usually of a pointer.',
    additionalProperties: address,
    default: {},
  },
  publicGateways: {
    description:
      'Origins of gateways that everyone can reach. Shared links lead there if this gateway has a local name.',
    default: [],
    examples: [['https://gateway.example']],
  },
  deployment: {
    description: 'The last deployment. `antway deploy` writes it, and gateways ignore it.',
    properties: {
      name: { description: 'The name in `names` that follows the newest version.' },
      address,
      time: { description: 'When it was deployed, in ISO 8601.' },
      folder: { description: 'The folder that was deployed, relative to this file.' },
    },
  },
  cache: {
    description: 'Limits of stored data, in bytes.',
    properties: {
      maxBytes: {
        description:
          "Most bytes of encrypted chunks in the browser's storage. Beyond it, the least recently used chunks are deleted. Default: a tenth of the browser's quota for the gateway, at most 4 GiB.",
      },
      memoryBytes: {
        description: "Most bytes of decrypted chunks in the worker's memory.",
        default: 64 * 1024 ** 2,
      },
    },
    default: {},
  },
};

/** Returns the JSON Schema of `antway.json`, `docs/reference/antway.schema.json`. */
export function configJsonSchema(): Annotations {
  const document = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'antway.json',
    description:
      'Configuration that the host of an Antway gateway serves as /antway.json. See configuration.md.',
  };
  return { ...document, ...merge(jsonSchemaOf(serverConfigSchema), { properties: annotations }) };
}

/** Returns the JSON Schema of a schema. Checks in code are left out. */
export function jsonSchemaOf(schema: v.GenericSchema): Annotations {
  const { $schema: _, ...json } = toJsonSchema(schema, {
    // The last schema of a pipe is the exact one.
    typeMode: 'output',
    ignoreActions: ['transform', 'raw_transform', 'raw_check', 'check'],
    overrideSchema({ valibotSchema }) {
      if (valibotSchema.type !== 'map') return undefined;
      const { key, value } = valibotSchema as v.MapSchema<v.GenericSchema, v.GenericSchema, undefined>;
      return { type: 'object', propertyNames: jsonSchemaOf(key), additionalProperties: jsonSchemaOf(value) };
    },
  });
  return json;
}

function merge(schema: object, annotations: object): Annotations {
  const merged: Annotations = { ...schema };
  for (const [key, value] of Object.entries(annotations)) {
    const before = merged[key];
    merged[key] = isObject(before) && isObject(value) ? merge(before, value) : value;
  }
  return merged;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
