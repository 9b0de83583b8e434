// Opens the reference with Scalar, which its own script has brought. Everything that would leave this service is off:
// fonts, telemetry, proxy, agent, links to its client. Requests go to where this page comes from, whatever address the
// document names, and a key is kept in the page alone.

const root = new URL('.', document.baseURI).href;
Scalar.createApiReference('#reference', {
  url: `${root}docs/openapi.json`,
  servers: [{ url: root.slice(0, -1) }],
  authentication: { preferredSecurityScheme: 'apiKey' },
  persistAuth: false,
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  documentDownloadType: 'json',
  orderSchemaPropertiesBy: 'preserve',
  orderRequiredPropertiesFirst: false,
  theme: 'default',
  withDefaultFonts: false,
  telemetry: false,
  showDeveloperTools: 'never',
  hideClientButton: true,
  agent: { disabled: true },
  mcp: { disabled: true },
});
