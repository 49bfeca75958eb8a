/** What the browser's authenticator answers to the options of the service, as JSON. */
export async function askPasskey(options: unknown): Promise<unknown> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as PublicKeyCredentialRequestOptionsJSON,
  );
  const credential = await navigator.credentials.get({ publicKey });
  return (credential as PublicKeyCredential).toJSON();
}
