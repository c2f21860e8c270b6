// An OpenID provider on loopback: `node server.mjs FOLDER PORT`, with oidc-provider in FOLDER/node_modules.
//
// POST /control with {issuer, keys, algorithm, secret, callbacks} makes it anew: who it says it is, its private keys as JSON Web Keys (the
// first that fits signs), the secret of its clients `orders-job` and `lineage`, and where people come back to who log in to `lineage`, or to
// `lineage-public`, which has no secret. People log in with any password; who has a dash in the name is in the group before it.
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , folder, port] = process.argv;
const { Provider } = await import(pathToFileURL(join(folder, 'node_modules', 'oidc-provider', 'lib', 'index.js')));

function groupsOf(name) {
  return name.includes('-') ? [name.split('-')[0]] : [];
}

function providerOf({ issuer, keys, algorithm, secret, callbacks }) {
  return new Provider(issuer, {
    jwks: { keys },
    clients: [
      {
        client_id: 'orders-job',
        client_secret: secret,
        grant_types: ['client_credentials'],
        response_types: [],
        redirect_uris: [],
      },
      {
        client_id: 'page',
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code'],
        response_types: ['code'],
        redirect_uris: ['https://page.example/callback'],
        id_token_signed_response_alg: algorithm,
      },
      ...['lineage', 'lineage-public'].map((id) => ({
        client_id: id,
        ...(id === 'lineage' ? { client_secret: secret } : { token_endpoint_auth_method: 'none' }),
        grant_types: ['authorization_code'],
        response_types: ['code'],
        redirect_uris: callbacks,
      })),
    ],
    claims: { openid: ['sub'], profile: ['preferred_username', 'groups'] },
    clientDefaults: { id_token_signed_response_alg: algorithm },
    enabledJWA: { idTokenSigningAlgValues: [algorithm] },
    cookies: { keys: [secret] },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, preferred_username: id, groups: groupsOf(id) }) }),
    extraTokenClaims: (_, token) => {
      const name = token.accountId ?? token.clientId;
      return { groups: groupsOf(name), preferred_username: name };
    },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: (_, client) => (client.clientId === 'orders-job' ? 'urn:kafka' : undefined),
        getResourceServerInfo: (_, resource) => ({
          scope: 'lineage',
          audience: resource,
          accessTokenTTL: 600,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: algorithm } },
        }),
      },
    },
  });
}

let handle = (_, response) => response.writeHead(503).end();
let host = '';

async function control(request, response) {
  try {
    const settings = JSON.parse(Buffer.concat(await request.toArray()).toString());
    handle = providerOf(settings).callback();
    host = new URL(settings.issuer).host;
    response.writeHead(204).end();
  } catch (error) {
    response.writeHead(400).end(String(error));
  }
}

createServer((request, response) => {
  if (request.url === '/control') {
    control(request, response);
  } else {
    // Addresses in answers begin as the issuer does, also if the request came through something else.
    request.headers.host = host;
    handle(request, response);
  }
}).listen(Number(port), '127.0.0.1');
