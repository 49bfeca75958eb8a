/** Generated from openapi.json by `npm run generate`; do not edit. */
import type { Call, PagedCall } from "./call.ts";
import type { Body, CallOptions, Data, Query } from "./shapes.ts";

/** A method for each operation of the API. */
export interface Operations {
  /**
   * Ways to sign in at this installation.
   * Says whether passwords, passkeys and single sign-on may be used, so that a sign-in page shows only what works. It tells nothing about accounts.
   *
   * Needs no authentication.
   *
   * `GET /sign-in/options`
   */
  getSignInOptions(input?: CallOptions): Call<Data<"getSignInOptions">>;
  /**
   * Sign in with address and password; sets the cookie of the session, or asks for the second factor.
   * On success the response sets the session cookie. When the account has a second factor, the answer has `second_factor` with a challenge instead, to be completed with `confirmSecondFactor` within minutes. Unknown addresses, wrong passwords and disabled accounts get the same 401. Too many attempts get 429 with `Retry-After`.
   *
   * Needs no authentication.
   *
   * `POST /sign-in`
   */
  signIn(input: { body: Body<"signIn"> } & CallOptions): Call<Data<"signIn">>;
  /**
   * Complete a sign-in with a code, a recovery code or a passkey.
   * Send the challenge of `signIn` with a code of the authenticator app, a recovery code or the response of a passkey. Each code works once. On success the response sets the session cookie.
   *
   * Needs no authentication.
   *
   * `POST /sign-in/second-factor`
   */
  confirmSecondFactor(input: { body: Body<"confirmSecondFactor"> } & CallOptions): Call<Data<"confirmSecondFactor">>;
  /**
   * Begin a sign-in with a passkey and without a password.
   * Answers the options for the browser's `navigator.credentials.get()`. Send its result to `signInWithPasskey`.
   *
   * Needs no authentication.
   *
   * `POST /sign-in/passkey/challenge`
   */
  startPasskeySignIn(input?: CallOptions): Call<Data<"startPasskeySignIn">>;
  /**
   * Sign in with a passkey alone; the device must have checked its owner.
   * Send what the browser returned for the options of `startPasskeySignIn`. The passkey counts as both factors, so no further step follows. On success the response sets the session cookie.
   *
   * Needs no authentication.
   *
   * `POST /sign-in/passkey`
   */
  signInWithPasskey(input: { body: Body<"signInWithPasskey"> } & CallOptions): Call<Data<"signInWithPasskey">>;
  /**
   * The session: its person, their workspaces with roles and permissions, and until when it is confirmed.
   * The first request of a page: it answers 401 when no session is valid. Use the permissions of a workspace to show what the person may do there.
   *
   * For people who are signed in. API keys cannot call this.
   *
   * `GET /session`
   */
  getSession(input?: CallOptions): Call<Data<"getSession">>;
  /**
   * Sign out: end the session.
   * Ends the session of this cookie at once and removes the cookie. Other sessions stay; `revokeSessions` ends them.
   *
   * For people who are signed in. API keys cannot call this.
   *
   * `DELETE /session`
   */
  signOut(input?: CallOptions): Call<Data<"signOut">>;
  /**
   * Begin to confirm who you are with a passkey.
   * Answers the options for the browser's `navigator.credentials.get()`, for people who confirm with a passkey. Send its result to `reauthenticate`.
   *
   * For people who are signed in. API keys cannot call this.
   *
   * `POST /session/confirmation/challenge`
   */
  startConfirmation(input?: CallOptions): Call<Data<"startConfirmation">>;
  /**
   * Confirm who you are, for ten minutes; the session gets a new cookie.
   * Operations that cannot be undone answer 403 `REAUTHENTICATION_REQUIRED` unless the person has confirmed within ten minutes. Confirm with the password, a code of the authenticator app or a passkey, then repeat the request.
   *
   * For people who are signed in. API keys cannot call this.
   *
   * `POST /session/confirmation`
   */
  reauthenticate(input: { body: Body<"reauthenticate"> } & CallOptions): Call<Data<"reauthenticate">>;
  /**
   * Your sessions, last used first, at most 50.
   * Each session has its browser, its network address and the times of its first and last use. The one of this request is marked.
   *
   * For people who are signed in. API keys cannot call this.
   *
   * `GET /sessions`
   */
  listSessions(input?: CallOptions): Call<Data<"listSessions">>;
  /**
   * Sign out everywhere: end your other sessions, or all.
   * Use it after a device was lost, or when a session in the list is unknown. By default the session of this request stays.
   *
   * For people who are signed in. API keys cannot call this.
   *
   * `DELETE /sessions`
   */
  revokeSessions(input?: { query?: Query<"revokeSessions"> } & CallOptions): Call<Data<"revokeSessions">>;
  /**
   * End one of your sessions.
   * The session stops working at once on this machine, and within two seconds on others.
   *
   * For people who are signed in. API keys cannot call this.
   *
   * `DELETE /sessions/{id}`
   */
  revokeSession(input: { id: string } & CallOptions): Call<Data<"revokeSession">>;
  /**
   * Begin a sign-in at the OpenID provider of the installation.
   * Answers the URL of the provider's sign-in page and sets a cookie, which lets only this browser finish the sign-in. The provider sends the browser back to `/single-sign-on/finish`, which opens the session and goes on to `return_to`. When the account has a second factor, the browser goes to `/console/sign-in#challenge=…` instead: give that token to `getSecondFactorChallenge`, then complete the sign-in with `confirmSecondFactor`. 404 when `getSignInOptions` names no provider; 503 when the provider does not answer.
   *
   * It asks other servers, and may take longer than a few seconds.
   *
   * Needs no authentication.
   *
   * `POST /sign-in/single-sign-on`
   */
  startSingleSignOn(input?: { body?: Body<"startSingleSignOn"> } & CallOptions): Call<Data<"startSingleSignOn">>;
  /**
   * The open challenge of a sign-in, for a page that has only its token.
   * Answers what `signIn` answered as `second_factor`: the kinds of proof and the options for a passkey. Use it after single sign-on, or when the page was loaded again. It takes no try; 404 when the challenge has ended.
   *
   * Needs no authentication.
   *
   * `POST /sign-in/second-factor/challenge`
   */
  getSecondFactorChallenge(input: { body: Body<"getSecondFactorChallenge"> } & CallOptions): Call<Data<"getSecondFactorChallenge">>;
  /**
   * Ask for a link to choose a new password; the answer is the same for every address.
   * Mails a link that works once, for 30 minutes, if the address has an account. The answer and its time do not tell whether it has. In capture mode the mail is in the inbox of the service.
   *
   * Needs no authentication.
   *
   * `POST /password-resets`
   */
  requestPasswordReset(input: { body: Body<"requestPasswordReset"> } & CallOptions): Call<Data<"requestPasswordReset">>;
  /**
   * Choose a new password with the token of a link; ends all sessions, second factors stay.
   * The token is in the link of the mail and works once. All sessions of the person end; second factors stay and are asked for at the next sign-in.
   *
   * Needs no authentication.
   *
   * `POST /password-resets/complete`
   */
  resetPassword(input: { body: Body<"resetPassword"> } & CallOptions): Call<Data<"resetPassword">>;
  /**
   * Create the first person: owner of the first workspace and operator of the installation; signs in.
   * Works with the one-time link that the service prints at its start while it has no user. It answers 404 when the token is wrong, was used or has expired, and when there is a user already: the link then works no more.
   *
   * Needs no authentication.
   *
   * `POST /first-owner`
   */
  createFirstOwner(input: { body: Body<"createFirstOwner"> } & CallOptions): Call<Data<"createFirstOwner">>;
  /**
   * Your own account.
   * Name, address, language, time zone, theme and preferences of the signed-in person.
   *
   * For people who are signed in. API keys cannot call this.
   *
   * `GET /me`
   */
  getMe(input?: CallOptions): Call<Data<"getMe">>;
  /**
   * Change your name, language, time zone, theme or preferences; omitted fields stay.
   * The address is changed by `changeEmail` and the password by `changePassword`.
   *
   * For people who are signed in. API keys cannot call this.
   *
   * `PATCH /me`
   */
  updateMe(input: { body: Body<"updateMe"> } & CallOptions): Call<Data<"updateMe">>;
  /**
   * Change your password, or choose the first one; ends your other sessions.
   * A password has at least 10 characters and is not one of the commonest. Other sessions end, and this one gets a new cookie.
   *
   * For people who are signed in. API keys cannot call this.
   *
   * `PUT /me/password`
   */
  changePassword(input: { body: Body<"changePassword"> } & CallOptions): Call<Data<"changePassword">>;
  /**
   * Ask to sign in with another address; a link is mailed to it.
   * The present address stays until the link in the mail to the new one is opened. A notice goes to the present address.
   *
   * For people who are signed in. API keys cannot call this.
   *
   * `POST /me/email`
   */
  changeEmail(input: { body: Body<"changeEmail"> } & CallOptions): Call<Data<"changeEmail">>;
  /**
   * Confirm a new address with the token of the mailed link.
   * The token works once. From then on the person signs in with the new address.
   *
   * Needs no authentication.
   *
   * `POST /email-changes/confirm`
   */
  confirmEmailChange(input: { body: Body<"confirmEmailChange"> } & CallOptions): Call<Data<"confirmEmailChange">>;
  /**
   * Your second factors, and how many recovery codes are left.
   * Authenticator apps and passkeys with their names and the times of their last use.
   *
   * For people who are signed in. API keys cannot call this.
   *
   * `GET /me/second-factors`
   */
  listSecondFactors(input?: CallOptions): Call<Data<"listSecondFactors">>;
  /**
   * Begin to set up an authenticator app; it counts when its first code is confirmed.
   * Answers the secret, and the `otpauth:` address to show as a QR code. It takes effect when `confirmAuthenticatorApp` gets a code of the app.
   *
   * For people who are signed in. API keys cannot call this.
   *
   * `POST /me/authenticator-apps/setup`
   */
  startAuthenticatorApp(input: { body: Body<"startAuthenticatorApp"> } & CallOptions): Call<Data<"startAuthenticatorApp">>;
  /**
   * Add the authenticator app that is being set up, with its first code.
   * The first second factor comes with ten recovery codes, which are shown only in this answer.
   *
   * For people who are signed in. API keys cannot call this.
   *
   * `POST /me/authenticator-apps`
   */
  confirmAuthenticatorApp(input: { body: Body<"confirmAuthenticatorApp"> } & CallOptions): Call<Data<"confirmAuthenticatorApp">>;
  /**
   * Begin to add a passkey.
   * Answers the options for the browser's `navigator.credentials.create()`. Send its result to `addPasskey`.
   *
   * For people who are signed in. API keys cannot call this.
   *
   * `POST /me/passkeys/setup`
   */
  startPasskey(input?: CallOptions): Call<Data<"startPasskey">>;
  /**
   * Add a passkey that the browser has created.
   * The first second factor comes with ten recovery codes, which are shown only in this answer. Passkeys are bound to the host of PUBLIC_URL.
   *
   * For people who are signed in. API keys cannot call this.
   *
   * `POST /me/passkeys`
   */
  addPasskey(input: { body: Body<"addPasskey"> } & CallOptions): Call<Data<"addPasskey">>;
  /**
   * Rename a second factor.
   * The name helps to tell devices apart, and has no other effect.
   *
   * For people who are signed in. API keys cannot call this.
   *
   * `PATCH /me/second-factors/{id}`
   */
  renameSecondFactor(input: { id: string; body: Body<"renameSecondFactor"> } & CallOptions): Call<Data<"renameSecondFactor">>;
  /**
   * Remove a second factor; with the last one the recovery codes stop working.
   * A lost device should be removed at once. Workspaces that require a second factor are closed to people without one.
   *
   * For people who are signed in. API keys cannot call this.
   *
   * `DELETE /me/second-factors/{id}`
   */
  removeSecondFactor(input: { id: string } & CallOptions): Call<Data<"removeSecondFactor">>;
  /**
   * Get ten new recovery codes; the earlier ones stop working.
   * Each code replaces the second factor once. They are shown only in this answer; a person without a second factor gets 409.
   *
   * For people who are signed in. API keys cannot call this.
   *
   * `POST /me/recovery-codes`
   */
  createRecoveryCodes(input?: CallOptions): Call<Data<"createRecoveryCodes">>;
  /**
   * API keys of the workspace, newest first.
   * All keys of the workspace, active or not, without their secrets. `key_prefix` tells them apart.
   *
   * Needs the permission `api_keys:read`.
   *
   * `GET /api-keys`
   */
  listApiKeys(input?: { query?: Query<"listApiKeys"> } & CallOptions): Call<Data<"listApiKeys">>;
  /**
   * Create an API key; only this answer has the secret.
   * The answer has the secret (`efk_…`), which is stored only as a hash and never shown again. A key cannot create a key with more permissions than its own. A workspace has at most 1,000 keys.
   *
   * Needs the permission `api_keys:write`.
   *
   * `POST /api-keys`
   */
  createApiKey(input: { body: Body<"createApiKey"> } & CallOptions): Call<Data<"createApiKey">>;
  /**
   * Permission catalogue: every value a key can hold.
   * Every permission string that a key can have, with labels for people, wildcards and presets. It is derived from the operations of the running service, so that a page of key settings is never out of date.
   *
   * Any valid key, and any member of the workspace, may call this.
   *
   * `GET /api-keys/permissions`
   */
  listPermissions(input?: CallOptions): Call<Data<"listPermissions">>;
  /**
   * One API key, active or not.
   * A key without its secret. `last_used_at` helps to find keys that are no longer used.
   *
   * Needs the permission `api_keys:read`.
   *
   * `GET /api-keys/{id}`
   */
  getApiKey(input: { id: string } & CallOptions): Call<Data<"getApiKey">>;
  /**
   * Change name, permissions or expiry; omitted fields stay.
   * The secret does not change. It works on a key that is active; a key cannot change a key with more permissions than its own (403), and the last active key with every permission cannot lose any (409).
   *
   * Needs the permission `api_keys:write`.
   *
   * `PUT /api-keys/{id}`
   */
  updateApiKey(input: { id: string; body: Body<"updateApiKey"> } & CallOptions): Call<Data<"updateApiKey">>;
  /**
   * Deactivate a key; it can be reactivated.
   * Requests with the key are answered 401 within two seconds. Messages that were accepted with it are still sent. The last active key with every permission is refused (409).
   *
   * Needs the permission `api_keys:write`.
   *
   * `DELETE /api-keys/{id}`
   */
  deactivateApiKey(input: { id: string } & CallOptions): Call<Data<"deactivateApiKey">>;
  /**
   * Give an active key a new secret; the old one stops working at once.
   * Use it after a secret may have leaked. The old secret stops working within two seconds on every machine. To rotate without a gap, create a second key, deploy it, then deactivate the first.
   *
   * Needs the permission `api_keys:write`.
   *
   * `POST /api-keys/{id}/regenerate`
   */
  regenerateApiKey(input: { id: string } & CallOptions): Call<Data<"regenerateApiKey">>;
  /**
   * Reactivate a key, with its old secret.
   * The key works again with the secret that it had. An expired key needs a later expiry first.
   *
   * Needs the permission `api_keys:write`.
   *
   * `POST /api-keys/{id}/reactivate`
   */
  reactivateApiKey(input: { id: string } & CallOptions): Call<Data<"reactivateApiKey">>;
  /**
   * Delete a key permanently, active or not.
   * The key stops working and leaves the list; its name stays in reports and in the message log. The last active key with every permission is refused (409).
   *
   * Needs the permission `api_keys:write`.
   *
   * `DELETE /api-keys/{id}/permanent`
   */
  deleteApiKey(input: { id: string } & CallOptions): Call<Data<"deleteApiKey">>;
  /**
   * Requests of the API keys in the last 7 days, newest first.
   * Use it to see what a key does and why its calls fail: `request_id` finds the same request in your own log. Requests appear some seconds after their answer. Those of people in the console, and those without a valid key, are not in it. Of a key with very many requests only a part is recorded, failures apart from successes, and `left_out` counts the others.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `api_keys:read`.
   *
   * `GET /api-keys/requests`
   */
  listApiRequests(input?: { query?: Query<"listApiRequests"> } & CallOptions): PagedCall<Data<"listApiRequests">, "data">;
  /**
   * Teammates of the workspace, by name.
   * Each teammate has a role, the time of joining, and when they were last seen in the workspace.
   *
   * Needs the permission `team:read`.
   *
   * `GET /team`
   */
  listTeammates(input?: CallOptions): Call<Data<"listTeammates">>;
  /**
   * One teammate.
   * Role, time of joining and last visit of one member of the workspace.
   *
   * Needs the permission `team:read`.
   *
   * `GET /team/{id}`
   */
  getTeammate(input: { id: string } & CallOptions): Call<Data<"getTeammate">>;
  /**
   * Give a teammate another role.
   * A caller gives, changes and takes away only permissions that it holds itself. The last owner keeps the role. The new rights hold from the next request.
   *
   * Needs the permission `team:write`.
   *
   * `PATCH /team/{id}`
   */
  updateTeammate(input: { id: string; body: Body<"updateTeammate"> } & CallOptions): Call<Data<"updateTeammate">>;
  /**
   * Remove a teammate from the workspace; what they sent keeps their name.
   * The person loses the workspace at the next request and keeps the account. The last owner cannot be removed.
   *
   * Needs the permission `team:write`.
   *
   * `DELETE /team/{id}`
   */
  removeTeammate(input: { id: string } & CallOptions): Call<Data<"removeTeammate">>;
  /**
   * Leave a workspace; its last owner cannot.
   * The person loses the workspace at once and keeps the account.
   *
   * For people who are signed in. API keys cannot call this.
   *
   * `POST /workspaces/{id}/leave`
   */
  leaveWorkspace(input: { id: string } & CallOptions): Call<Data<"leaveWorkspace">>;
  /**
   * Invitations that are not accepted yet, newest first.
   * An invitation ends after seven days, when it is accepted, or when it is revoked.
   *
   * Needs the permission `team:read`.
   *
   * `GET /team/invitations`
   */
  listInvitations(input?: CallOptions): Call<Data<"listInvitations">>;
  /**
   * Invite a person to the workspace by mail, with a role that you may grant.
   * The mail has a link that works once, for seven days. The answer is the same whether or not the address has an account. 409 if the person is a member already.
   *
   * Needs the permission `team:write`.
   *
   * `POST /team/invitations`
   */
  inviteTeammate(input: { body: Body<"inviteTeammate"> } & CallOptions): Call<Data<"inviteTeammate">>;
  /**
   * Mail a new link; the old one stops working.
   * The new link works for seven days from now. You answer for the role from then on, in place of the first inviter.
   *
   * Needs the permission `team:write`.
   *
   * `POST /team/invitations/{id}/resend`
   */
  resendInvitation(input: { id: string } & CallOptions): Call<Data<"resendInvitation">>;
  /**
   * Revoke an invitation: its link stops working at once.
   * The invitation disappears from the list, and its link answers 404.
   *
   * Needs the permission `team:write`.
   *
   * `DELETE /team/invitations/{id}`
   */
  revokeInvitation(input: { id: string } & CallOptions): Call<Data<"revokeInvitation">>;
  /**
   * What an invitation offers, for the page that its link opens.
   * Answers the workspace, the role and the invited address for the token of a link, so that the page can ask for what is missing.
   *
   * Needs no authentication.
   *
   * `POST /invitations/preview`
   */
  previewInvitation(input: { body: Body<"previewInvitation"> } & CallOptions): Call<Data<"previewInvitation">>;
  /**
   * Join a workspace: signed in with the invited address, or as a new person with name and password.
   * A signed-in person joins if the invitation is for their address. A new person sends a name and a password, gets an account and is signed in. The token works once. 409 if the person is a member already, has an account and is not signed in, or if the inviter may not give the role any more.
   *
   * Needs no authentication.
   *
   * `POST /invitations/accept`
   */
  acceptInvitation(input: { body: Body<"acceptInvitation"> } & CallOptions): Call<Data<"acceptInvitation">>;
  /**
   * Roles: the built-in ones, then those of the workspace by name.
   * Built-in roles come with the program and cannot be changed. Each role lists its permissions.
   *
   * Needs the permission `roles:read`.
   *
   * `GET /roles`
   */
  listRoles(input?: CallOptions): Call<Data<"listRoles">>;
  /**
   * Make a role of permissions that you hold.
   * A role holds permissions of the catalogue (`listPermissions`). A caller can only put into it what it holds itself. Names are unique in the workspace, without regard to case.
   *
   * Needs the permission `roles:write`.
   *
   * `POST /roles`
   */
  createRole(input: { body: Body<"createRole"> } & CallOptions): Call<Data<"createRole">>;
  /**
   * One role of the workspace.
   * Name, description and permissions of a role that the workspace has made.
   *
   * Needs the permission `roles:read`.
   *
   * `GET /roles/{id}`
   */
  getRole(input: { id: string } & CallOptions): Call<Data<"getRole">>;
  /**
   * Change name, description or permissions of a role; omitted fields stay.
   * The change holds for all members with the role from their next request. A caller must hold the permissions that the role has before and after.
   *
   * Needs the permission `roles:write`.
   *
   * `PATCH /roles/{id}`
   */
  updateRole(input: { id: string; body: Body<"updateRole"> } & CallOptions): Call<Data<"updateRole">>;
  /**
   * Delete a role that no teammate holds.
   * 409 while a teammate or an invitation has the role, also an invitation that has expired: give the teammates another role, and revoke the invitations.
   *
   * Needs the permission `roles:write`.
   *
   * `DELETE /roles/{id}`
   */
  deleteRole(input: { id: string } & CallOptions): Call<Data<"deleteRole">>;
  /**
   * Balance, plan, remaining emails of the month, and storage used.
   * The figures for a billing page: what may still be sent this month, what is paid for, and what is stored. Emails beyond the allowance are paid from the balance; without either, sending is refused with 402.
   *
   * Needs the permission `billing:read`.
   *
   * `GET /billing/overview`
   */
  getBillingOverview(input?: CallOptions): Call<Data<"getBillingOverview">>;
  /**
   * Spending of this month, and the newest charges.
   * What this month has cost, by kind, and the newest charges. `GET /billing/transactions` has the whole ledger.
   *
   * Needs the permission `billing:read`.
   *
   * `GET /billing/usage`
   */
  getBillingUsage(input?: CallOptions): Call<Data<"getBillingUsage">>;
  /**
   * The subscription; null on pay as you go.
   * The subscription with its plan. On pay as you go `subscription` is null: the allowances are then those of the free plan and the calendar month.
   *
   * Needs the permission `billing:read`.
   *
   * `GET /billing/subscription`
   */
  getSubscription(input?: CallOptions): Call<Data<"getSubscription">>;
  /**
   * Subscribe, or change plan or interval; applies at once, and the price difference is taken from the balance.
   * The first period is paid from the balance at once; 402 if it does not cover it. A new plan or interval of an existing subscription holds from this moment. The new plan's allowance replaces the old one.
   *
   * Needs the permission `billing:write`.
   *
   * `POST /billing/subscription`
   */
  subscribe(input: { body: Body<"subscribe"> } & CallOptions): Call<Data<"subscribe">>;
  /**
   * Plans that can be subscribed to.
   * The plans of this installation with allowances and prices. A plan with `is_custom` is agreed with the operator and cannot be subscribed to over the API.
   *
   * Needs the permission `billing:read`.
   *
   * `GET /billing/plans`
   */
  listPlans(input?: CallOptions): Call<Data<"listPlans">>;
  /**
   * Cancel the subscription at the end of its current period.
   * The subscription stays in force until the end of the period that is paid, and `cancel_at_period_end` becomes true; one that is past due ends at once. To undo it, subscribe to the same plan again before the period ends.
   *
   * Needs the permission `billing:write`.
   *
   * `POST /billing/subscription/cancel`
   */
  cancelSubscription(input?: CallOptions): Call<Data<"cancelSubscription">>;
  /**
   * The ledger, newest first.
   * Every top-up, charge and correction of the workspace. The balance is the sum of the completed amounts. `GET /billing/transactions/export` returns the same as a file.
   *
   * Needs the permission `billing:read`.
   *
   * `GET /billing/transactions`
   */
  listTransactions(input?: { query?: Query<"listTransactions"> } & CallOptions): PagedCall<Data<"listTransactions">, "transactions">;
  /**
   * The ledger as a CSV file.
   * A CSV file with a header row and one row for each entry of the ledger, newest first. Use it for bookkeeping.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `billing:read`.
   *
   * `GET /billing/transactions/export`
   */
  exportTransactions(input?: { query?: Query<"exportTransactions"> } & CallOptions): Call<Data<"exportTransactions">>;
  /**
   * Usage and charges by day, and messages by source.
   * Every day from `start_date` to `end_date`, both included, by default the last 30: emails, validations and blacklist checks that were used and charged. Usage is counted since the version that has this; charges and messages are complete.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `billing:read`.
   *
   * `GET /billing/usage/days`
   */
  listUsageDays(input?: { query?: Query<"listUsageDays"> } & CallOptions): Call<Data<"listUsageDays">>;
  /**
   * The statement of a month: lines, sums, and the balance before and after.
   * A month of the ledger, in UTC, for bookkeeping and for invoices that the operator writes. Usage is one line for each kind and price. Payments count in the month in which they were completed. It has no taxes.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `billing:read`.
   *
   * `GET /billing/statement`
   */
  getBillingStatement(input?: { query?: Query<"getBillingStatement"> } & CallOptions): Call<Data<"getBillingStatement">>;
  /**
   * The lines of a monthly statement as a CSV file.
   * A header row and one row for each line of the statement, without a limit.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `billing:read`.
   *
   * `GET /billing/statement/export`
   */
  exportBillingStatement(input?: { query?: Query<"exportBillingStatement"> } & CallOptions): Call<Data<"exportBillingStatement">>;
  /**
   * Your workspaces with your role in each, by name; at most 1000.
   * The workspaces that the person may name in `X-Workspace`, for a switch between them.
   *
   * For people who are signed in. API keys cannot call this.
   *
   * `GET /workspaces`
   */
  listWorkspaces(input?: CallOptions): Call<Data<"listWorkspaces">>;
  /**
   * Create a workspace, and become its owner (operators).
   * The workspace begins on the free plan unless another plan is named, without keys and with its creator as owner.
   *
   * For people who operate the installation. API keys cannot call this.
   *
   * `POST /workspaces`
   */
  createWorkspace(input: { body: Body<"createWorkspace"> } & CallOptions): Call<Data<"createWorkspace">>;
  /**
   * The settings of the workspace.
   * Name, time zone, sender, notices, retries, tracking and caps of the workspace.
   *
   * Needs the permission `workspace:read`.
   *
   * `GET /workspace`
   */
  getWorkspace(input?: CallOptions): Call<Data<"getWorkspace">>;
  /**
   * Change settings of the workspace; omitted fields stay.
   * Changes hold for messages that are accepted from then on. Of the hourly caps of the workspace and of the operator, the lower one applies.
   *
   * Needs the permission `workspace:write`.
   *
   * `PATCH /workspace`
   */
  updateWorkspace(input: { body: Body<"updateWorkspace"> } & CallOptions): Call<Data<"updateWorkspace">>;
  /**
   * The brand of the workspace.
   * Name, logo, colours and footer of the pages that recipients see, and the footer text and postal address of mail. A field that was never set is null.
   *
   * Needs the permission `brand:read`.
   *
   * `GET /brand`
   */
  getBrand(input?: CallOptions): Call<Data<"getBrand">>;
  /**
   * Change the brand of the workspace; omitted fields stay.
   * Null removes a value. Colours whose text would be hard to read are refused. Pages change at once, mail of campaigns that are being sent within ten minutes.
   *
   * Needs the permission `brand:write`.
   *
   * `PATCH /brand`
   */
  updateBrand(input: { body: Body<"updateBrand"> } & CallOptions): Call<Data<"updateBrand">>;
  /**
   * The texts that recipients read, in one language.
   * The 56 texts for recipients that a workspace can replace: on the pages of unsubscribing and signing up, in the mail that confirms a sign-up, and in the footer that is added to mail. Each with its default, and with the wording that the workspace has chosen instead.
   *
   * Needs the permission `brand:read`.
   *
   * `GET /texts`
   */
  listTexts(input?: { query?: Query<"listTexts"> } & CallOptions): Call<Data<"listTexts">>;
  /**
   * Replace texts that recipients read, or reset them; omitted ones stay.
   * Either all texts are stored or none. Placeholders in braces stand for values; markup and merge tags are refused. Pages change at once, the footer of campaigns that are being sent within ten minutes. A confirmation mail that comes from the service's own sender keeps the default wordings.
   *
   * Needs the permission `brand:write`.
   *
   * `PATCH /texts`
   */
  updateTexts(input: { body: Body<"updateTexts"> } & CallOptions): Call<Data<"updateTexts">>;
  /**
   * All workspaces with their figures, newest first (operators).
   * Search by part of the name, by id, or by the address of a teammate. Figures are those of the present month.
   *
   * For people who operate the installation. API keys cannot call this.
   *
   * `GET /operator/workspaces`
   */
  listOperatedWorkspaces(input?: { query?: Query<"listOperatedWorkspaces"> } & CallOptions): PagedCall<Data<"listOperatedWorkspaces">, "workspaces">;
  /**
   * One workspace with its figures (operators).
   * Settings, plan, balance and figures of the present month.
   *
   * For people who operate the installation. API keys cannot call this.
   *
   * `GET /operator/workspaces/{id}`
   */
  getOperatedWorkspace(input: { id: string } & CallOptions): Call<Data<"getOperatedWorkspace">>;
  /**
   * Change plan or hourly cap of a workspace; omitted fields stay (operators).
   * A new plan applies from now on, and replaces a subscription; earlier usage is charged under the old plan.
   *
   * For people who operate the installation. API keys cannot call this.
   *
   * `PATCH /operator/workspaces/{id}`
   */
  updateOperatedWorkspace(input: { id: string; body: Body<"updateOperatedWorkspace"> } & CallOptions): Call<Data<"updateOperatedWorkspace">>;
  /**
   * Suspend a workspace: it can read, but not send or change anything (operators).
   * Its queued mail is held, and its keys and members get 403 `SERVICE_SUSPENDED` for all but reading. Suspending twice has no further effect.
   *
   * For people who operate the installation. API keys cannot call this.
   *
   * `POST /operator/workspaces/{id}/suspend`
   */
  suspendWorkspace(input: { id: string } & CallOptions): Call<Data<"suspendWorkspace">>;
  /**
   * End the suspension of a workspace (operators).
   * Held mail is sent again. Resuming twice has no further effect.
   *
   * For people who operate the installation. API keys cannot call this.
   *
   * `POST /operator/workspaces/{id}/resume`
   */
  resumeWorkspace(input: { id: string } & CallOptions): Call<Data<"resumeWorkspace">>;
  /**
   * Record a payment: adds to the balance, once for each reference (operators).
   * The reference, such as the number of a bank transfer, makes a repeated call safe: the same reference is credited once, and answered with 409 if the amount differs.
   *
   * For people who operate the installation. API keys cannot call this.
   *
   * `POST /operator/workspaces/{id}/credits`
   */
  creditWorkspace(input: { id: string; body: Body<"creditWorkspace"> } & CallOptions): Call<Data<"creditWorkspace">>;
  /**
   * Users of the installation, newest first (operators).
   * Search by name or address. A user may be a member of several workspaces.
   *
   * For people who operate the installation. API keys cannot call this.
   *
   * `GET /operator/users`
   */
  listInstallationUsers(input?: { query?: Query<"listInstallationUsers"> } & CallOptions): PagedCall<Data<"listInstallationUsers">, "users">;
  /**
   * One user of the installation (operators).
   * Account, workspaces and state of one user.
   *
   * For people who operate the installation. API keys cannot call this.
   *
   * `GET /operator/users/{id}`
   */
  getInstallationUser(input: { id: string } & CallOptions): Call<Data<"getInstallationUser">>;
  /**
   * Disable or enable a user, or make them an operator (operators).
   * A disabled user is signed out everywhere and cannot sign in. The last operator stays.
   *
   * For people who operate the installation. API keys cannot call this.
   *
   * `PATCH /operator/users/{id}`
   */
  updateInstallationUser(input: { id: string; body: Body<"updateInstallationUser"> } & CallOptions): Call<Data<"updateInstallationUser">>;
  /**
   * Who changed what in the workspace within 365 days, newest first.
   * Each event has its actor, the operation, the resource, and changed fields before and after; secrets and contents are left out. Filter by actor, operation, resource and time, and continue with `next_cursor`.
   *
   * Needs the permission `audit:read`.
   *
   * `GET /audit-events`
   */
  listAuditEvents(input?: { query?: Query<"listAuditEvents"> } & CallOptions): PagedCall<Data<"listAuditEvents">, "data">;
  /**
   * Download audit events as CSV, newest first; at most 100,000 rows.
   * Takes the filters of `listAuditEvents`.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `audit:read`.
   *
   * `GET /audit-events/export`
   */
  exportAuditEvents(input?: { query?: Query<"exportAuditEvents"> } & CallOptions): Call<Data<"exportAuditEvents">>;
  /**
   * Audit events of the installation, or of any workspace, newest first (operators).
   * Without `workspace_id` these are events that belong to no workspace, such as sign-ins.
   *
   * For people who operate the installation. API keys cannot call this.
   *
   * `GET /operator/audit-events`
   */
  listInstallationAuditEvents(input?: { query?: Query<"listInstallationAuditEvents"> } & CallOptions): PagedCall<Data<"listInstallationAuditEvents">, "data">;
  /**
   * Start a top-up; the answer has the address of the payment page.
   * Starts a payment into the prepaid balance and returns the address of the payment provider's page. Send the person there. The balance grows when the provider confirms the payment, usually within seconds; the transaction is `pending` until then. An installation without a payment provider answers 400, and its operator records payments.
   *
   * It asks other servers, and may take longer than a few seconds.
   *
   * Needs the permission `billing:write`.
   *
   * `POST /billing/top-up`
   */
  createTopUp(input: { body: Body<"createTopUp"> } & CallOptions): Call<Data<"createTopUp">>;
  /**
   * Mailing lists, newest first.
   * All mailing lists with their numbers of members. A workspace has at most 1,000.
   *
   * Needs the permission `mailing_lists:read`.
   *
   * `GET /mailing-lists`
   */
  listMailingLists(input?: CallOptions): Call<Data<"listMailingLists">>;
  /**
   * Create a mailing list.
   * Sender and tracking of the list hold for campaigns that set none. People who are added over the API are active at once; those who use the public form confirm first.
   *
   * Needs the permission `mailing_lists:write`.
   *
   * `POST /mailing-lists`
   */
  createMailingList(input: { body: Body<"createMailingList"> } & CallOptions): Call<Data<"createMailingList">>;
  /**
   * Growth, engagement and health of every list over the last days.
   * For every list the growth of the last days, the rates of opens, clicks and bounces, and the last campaign. The figures are counted as things happen, so the call is fast for lists of any size.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `mailing_lists:read`.
   *
   * `GET /mailing-lists/stats`
   */
  getMailingListStats(input?: { query?: Query<"getMailingListStats"> } & CallOptions): Call<Data<"getMailingListStats">>;
  /**
   * One mailing list.
   * The list with its settings and numbers of members.
   *
   * Needs the permission `mailing_lists:read`.
   *
   * `GET /mailing-lists/{id}`
   */
  getMailingList(input: { id: string } & CallOptions): Call<Data<"getMailingList">>;
  /**
   * Change a mailing list; omitted fields stay.
   * The settings hold for campaigns that are sent from now on. Messages that were made already keep theirs.
   *
   * Needs the permission `mailing_lists:write`.
   *
   * `PUT /mailing-lists/{id}`
   */
  updateMailingList(input: { id: string; body: Body<"updateMailingList"> } & CallOptions): Call<Data<"updateMailingList">>;
  /**
   * Delete a mailing list and its memberships; people on no other list are deleted.
   * Refused (409) while a campaign to it is scheduled, being sent or paused, or an active autoresponder writes to it; the error names what does. Memberships, segments and fields are deleted with it. It cannot be undone.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `mailing_lists:write`.
   *
   * `DELETE /mailing-lists/{id}`
   */
  deleteMailingList(input: { id: string } & CallOptions): Call<Data<"deleteMailingList">>;
  /**
   * The sign-up form of a list.
   * The public page of the list, the address for forms in your own pages, and what the form asks for and says. People who sign up get a confirmation mail, and join the list by the link in it.
   *
   * Needs the permission `mailing_lists:read`.
   *
   * `GET /mailing-lists/{id}/signup-form`
   */
  getSignupForm(input: { id: string } & CallOptions): Call<Data<"getSignupForm">>;
  /**
   * Open or close the sign-up form of a list, and change what it says; people who fill it in join by a link that is mailed to them.
   * Switches the public form on or off, and changes its fields and texts; those that are omitted stay. While it is off, its page says so, sign-ups are refused, and confirmation links that were sent do not work.
   *
   * Needs the permission `mailing_lists:write`.
   *
   * `PUT /mailing-lists/{id}/signup-form`
   */
  updateSignupForm(input: { id: string; body: Body<"updateSignupForm"> } & CallOptions): Call<Data<"updateSignupForm">>;
  /**
   * The subscribers of a list, newest person first.
   * The members of one list with their status on it. `search` finds parts of addresses and names. For long lists follow `pagination.next_cursor`.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `subscribers:read`.
   *
   * `GET /mailing-lists/{id}/subscribers`
   */
  listMembers(input: { id: string; query?: Query<"listMembers"> } & CallOptions): PagedCall<Data<"listMembers">, "subscribers">;
  /**
   * Add a person to a list; a person of another list stays the same person.
   * Creates the person, or adds a known person to the list: address, name and custom fields belong to the person, the status to the list. Active autoresponders of the list start, and `subscriber.created` or `subscriber.updated` is sent. A member of the list is refused (409).
   *
   * Needs the permission `subscribers:write`.
   *
   * `POST /mailing-lists/{id}/subscribers`
   */
  addMember(input: { id: string; body: Body<"addMember"> } & CallOptions): Call<Data<"addMember">>;
  /**
   * Remove all members of a list; people on no other list are deleted.
   * Empties the list in steps; if it is interrupted, call it again. Messages that wait for these people end as `suppressed`. No subscriber events are sent. It cannot be undone.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `subscribers:write`.
   *
   * `DELETE /mailing-lists/{id}/subscribers/all`
   */
  removeAllMembers(input: { id: string } & CallOptions): Call<Data<"removeAllMembers">>;
  /**
   * Change a subscriber; omitted fields stay, null clears a name or a custom field.
   * Names and custom fields change on every list that the person is on; the status only on this one. The address cannot change. Sends `subscriber.updated`.
   *
   * Needs the permission `subscribers:write`.
   *
   * `PUT /mailing-lists/{id}/subscribers/{subscriber_id}`
   */
  updateMember(input: { id: string; subscriber_id: string; body: Body<"updateMember"> } & CallOptions): Call<Data<"updateMember">>;
  /**
   * Remove a person from a list; a person on no other list is deleted.
   * Unlike an unsubscription it leaves no trace: a later import would add the person again. Use `PATCH …/status` to remember that a person wants no mail.
   *
   * Needs the permission `subscribers:write`.
   *
   * `DELETE /mailing-lists/{id}/subscribers/{subscriber_id}`
   */
  removeMember(input: { id: string; subscriber_id: string } & CallOptions): Call<Data<"removeMember">>;
  /**
   * Set a subscriber's status; bounced and complained apply to every list, and suppress the address.
   * Use it when a person asks to get no more mail or to get it again. Sends `subscriber.unsubscribed` or `subscriber.updated`. Messages that wait for a person who is no longer active end as `suppressed`.
   *
   * Needs the permission `subscribers:write`.
   *
   * `PUT /mailing-lists/{id}/subscribers/{subscriber_id}/status`
   */
  setMemberStatus(input: { id: string; subscriber_id: string; body: Body<"setMemberStatus"> } & CallOptions): Call<Data<"setMemberStatus">>;
  /**
   * The people of the workspace, newest first or in another order.
   * Every person once, with the lists that the person is on. For long lists follow `pagination.next_cursor`. People whom a filter finds are counted up to 10,000, and up to 2,000 with `search`; beyond that `pagination.total_is_exact` is false, and all but those of a search can be paged to.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `subscribers:read`.
   *
   * `GET /subscribers`
   */
  listSubscribers(input?: { query?: Query<"listSubscribers"> } & CallOptions): PagedCall<Data<"listSubscribers">, "subscribers">;
  /**
   * Everything about one person.
   * Profile, lists, lifetime figures, the newest activities and bounces, and the suppression lists that hold the address.
   *
   * Needs the permission `subscribers:read`.
   *
   * `GET /subscribers/{id}`
   */
  getSubscriber(input: { id: string } & CallOptions): Call<Data<"getSubscriber">>;
  /**
   * Show how an import would read a file, from its beginning.
   * Answers at once and stores nothing: the encoding, the delimiter, whether there is a header, the columns with the fields that their names and values suggest, and the first rows as an import reads them. Send the first 256 kB of a larger file with `is_beginning`. Begin a `mapping` with `columns`, and send `has_header` and a settled `encoding` with the import, which reads the whole file and may then guess another encoding or find faults further down: a dry run of `importSubscribers` shows those. A file that is no table is refused with the reason (400).
   *
   * The body, or the file of the form, may have 256 KiB instead of 1 MiB.
   *
   * Needs the permission `subscribers:write`.
   *
   * `POST /mailing-lists/{id}/subscribers/inspect-import-file`
   */
  inspectImportFile(input: { id: string; body: Body<"inspectImportFile"> } & CallOptions): Call<Data<"inspectImportFile">>;
  /**
   * Import subscribers from a CSV file, in the background.
   * Starts a background job and answers 202 with its id. Follow it at `GET /jobs/{job_id}`; rows that were refused are in the file of `GET /jobs/{job_id}/errors`. Existing people are updated. A worse status is never replaced by `active` unless `resubscribe` is true. `mapping` says which field each column is for; without it the header does, and `file` of the answer shows the columns with suggestions to begin a mapping with. Use `dry_run` first to see what the file would change. No subscriber events are sent.
   *
   * The body, or the file of the form, may have 50 MiB instead of 1 MiB.
   *
   * Needs the permission `subscribers:write`.
   *
   * `POST /mailing-lists/{id}/subscribers/import-async`
   */
  importSubscribers(input: { id: string; body: Body<"importSubscribers">; query?: Query<"importSubscribers"> } & CallOptions): Call<Data<"importSubscribers">>;
  /**
   * Export subscribers to a CSV file, in the background.
   * Starts a background job and answers 202 with its id. Follow it at `GET /jobs/{job_id}`; when it is completed, `GET /jobs/{job_id}/download` has the file, for seven days. `status`, `search` and `filter` are the filters of `listSubscribers`: all that are given have to be met.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `subscribers:write`.
   *
   * `POST /mailing-lists/{id}/subscribers/export-async`
   */
  exportSubscribers(input: { id: string; body?: Body<"exportSubscribers"> } & CallOptions): Call<Data<"exportSubscribers">>;
  /**
   * Change many people in the background: all whom a filter finds, or those with the ids given.
   * Starts a job that adds to a list, removes, changes state or a field, suppresses or deletes. The people are chosen once, when the job starts. With `dry_run` it counts and changes nothing. Follow the job with `getJob`; people who could not be changed are in its errors file, each with the reason.
   *
   * Needs the permission `subscribers:write`.
   *
   * `POST /subscribers/bulk`
   */
  runBulkAction(input: { body: Body<"runBulkAction"> } & CallOptions): Call<Data<"runBulkAction">>;
  /**
   * The list's own custom fields in display order.
   * Only the fields that belong to this list; `GET /custom-fields/global` has those of every list. A list's own field takes precedence over a global one of the same name.
   *
   * Needs the permission `custom_fields:read`.
   *
   * `GET /mailing-lists/{id}/custom-fields`
   */
  listCustomFields(input: { id: string } & CallOptions): Call<Data<"listCustomFields">>;
  /**
   * Add a custom field to a list.
   * Values that people already have under the name are checked against the type by the rules of the type. `field_name` is the name in merge tags, segments and imports, and cannot change later.
   *
   * Needs the permission `custom_fields:write`.
   *
   * `POST /mailing-lists/{id}/custom-fields`
   */
  createCustomField(input: { id: string; body: Body<"createCustomField"> } & CallOptions): Call<Data<"createCustomField">>;
  /**
   * Change a custom field of a list; omitted fields stay, the name cannot change.
   * A new `field_type` converts the stored values and is refused (409) while a segment or an unfinished campaign uses the field, or the workspace names it as its `language_field`; so is `is_active: false` for the last. The name cannot change: add another field instead.
   *
   * Needs the permission `custom_fields:write`.
   *
   * `PUT /mailing-lists/{id}/custom-fields/{field_id}`
   */
  updateCustomField(input: { id: string; field_id: string; body: Body<"updateCustomField"> } & CallOptions): Call<Data<"updateCustomField">>;
  /**
   * Delete a custom field of a list; stored values of subscribers stay.
   * Refused (409) while a segment, an autoresponder or an unfinished campaign uses it, or the workspace names it as its `language_field`. The values that people have stay stored, and come back if a field of this name is added again.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `custom_fields:write`.
   *
   * `DELETE /mailing-lists/{id}/custom-fields/{field_id}`
   */
  deleteCustomField(input: { id: string; field_id: string } & CallOptions): Call<Data<"deleteCustomField">>;
  /**
   * The custom fields of every list, in display order.
   * The fields that people have on every list of the workspace.
   *
   * Needs the permission `custom_fields:read`.
   *
   * `GET /custom-fields/global`
   */
  listGlobalCustomFields(input?: CallOptions): Call<Data<"listGlobalCustomFields">>;
  /**
   * Add a custom field to every list; a list's own field of the same name takes precedence.
   * Use it for what belongs to the person whatever the list, such as a customer number. `field_name` is the name in merge tags, segments and imports, and cannot change later.
   *
   * Needs the permission `custom_fields:write`.
   *
   * `POST /custom-fields/global`
   */
  createGlobalCustomField(input: { body: Body<"createGlobalCustomField"> } & CallOptions): Call<Data<"createGlobalCustomField">>;
  /**
   * Change a global custom field; omitted fields stay, the name cannot change.
   * A new `field_type` converts the stored values and is refused (409) while a segment or an unfinished campaign uses the field, or the workspace names it as its `language_field`; so is `is_active: false` for the last. The name cannot change: add another field instead.
   *
   * Needs the permission `custom_fields:write`.
   *
   * `PUT /custom-fields/global/{field_id}`
   */
  updateGlobalCustomField(input: { field_id: string; body: Body<"updateGlobalCustomField"> } & CallOptions): Call<Data<"updateGlobalCustomField">>;
  /**
   * Delete a global custom field; stored values of subscribers stay.
   * Refused (409) while a segment, an autoresponder or an unfinished campaign uses it, or the workspace names it as its `language_field`. The values that people have stay stored, and come back if a field of this name is added again.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `custom_fields:write`.
   *
   * `DELETE /custom-fields/global/{field_id}`
   */
  deleteGlobalCustomField(input: { field_id: string } & CallOptions): Call<Data<"deleteGlobalCustomField">>;
  /**
   * Segments of all lists, newest first.
   * The segments of all mailing lists, for pages that choose one. Counts may be some minutes old; `counted_at` says when.
   *
   * Needs the permission `segments:read`.
   *
   * `GET /segments`
   */
  listSegments(input?: { query?: Query<"listSegments"> } & CallOptions): PagedCall<Data<"listSegments">, "segments">;
  /**
   * The fields that rules may use, with their operators, values and limits.
   * Made from the definitions that evaluate segments, so that a rule editor needs no list of its own. With `list_id` it has the custom fields of the list.
   *
   * Needs the permission `segments:read`.
   *
   * `GET /segments/fields`
   */
  listSegmentFields(input?: { query?: Query<"listSegmentFields"> } & CallOptions): Call<Data<"listSegmentFields">>;
  /**
   * The segments of a list, newest first.
   * The segments that select people of this list. Counts may be some minutes old; `counted_at` says when.
   *
   * Needs the permission `segments:read`.
   *
   * `GET /mailing-lists/{id}/segments`
   */
  listSegmentsOfList(input: { id: string; query?: Query<"listSegmentsOfList"> } & CallOptions): PagedCall<Data<"listSegmentsOfList">, "segments">;
  /**
   * Save conditions as a segment of a list.
   * A segment stores conditions, not people: people who meet them at the time of a campaign get it. Only active members count, unless a rule names `status`. Try conditions with `POST /mailing-lists/{id}/segments/preview` first.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `segments:write`.
   *
   * `POST /mailing-lists/{id}/segments`
   */
  createSegment(input: { id: string; body: Body<"createSegment"> } & CallOptions): Call<Data<"createSegment">>;
  /**
   * Count the people who meet conditions, without saving them.
   * Counts now and saves nothing. Use it on a page that edits conditions. A count that takes longer than five seconds is answered 400.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `segments:read`.
   *
   * `POST /mailing-lists/{id}/segments/preview`
   */
  previewSegment(input: { id: string; body: Body<"previewSegment"> } & CallOptions): Call<Data<"previewSegment">>;
  /**
   * One segment.
   * The segment with its conditions, a fresh count and what uses it.
   *
   * Needs the permission `segments:read`.
   *
   * `GET /mailing-lists/{id}/segments/{segment_id}`
   */
  getSegment(input: { id: string; segment_id: string } & CallOptions): Call<Data<"getSegment">>;
  /**
   * Change a segment; omitted fields stay.
   * New conditions hold for everything that uses the segment and has not chosen its recipients yet. A campaign that is being sent keeps its recipients.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `segments:write`.
   *
   * `PUT /mailing-lists/{id}/segments/{segment_id}`
   */
  updateSegment(input: { id: string; segment_id: string; body: Body<"updateSegment"> } & CallOptions): Call<Data<"updateSegment">>;
  /**
   * Delete a segment; its members do not change.
   * Refused (409) while something else, such as an unfinished campaign or another segment, uses it; the error names what does.
   *
   * Needs the permission `segments:write`.
   *
   * `DELETE /mailing-lists/{id}/segments/{segment_id}`
   */
  deleteSegment(input: { id: string; segment_id: string } & CallOptions): Call<Data<"deleteSegment">>;
  /**
   * The subscribers in a segment now, newest person first.
   * Evaluates the conditions now. For long lists follow `pagination.next_cursor`.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `subscribers:read`.
   *
   * `GET /mailing-lists/{id}/segments/{segment_id}/subscribers`
   */
  listSegmentMembers(input: { id: string; segment_id: string; query?: Query<"listSegmentMembers"> } & CallOptions): PagedCall<Data<"listSegmentMembers">, "subscribers">;
  /**
   * The segments that a person is in now.
   * Evaluates every segment of the workspace for this one person. Use it to explain why a person gets a campaign.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `segments:read`.
   *
   * `GET /subscribers/{id}/segments`
   */
  listSegmentsOfSubscriber(input: { id: string } & CallOptions): Call<Data<"listSegmentsOfSubscriber">>;
  /**
   * Suppression lists, newest first; the list of bounces and complaints is always there.
   * A suppression list holds addresses and domains that get no mail. The list of hard bounces and complaints, which the service fills, is always there and cannot be deleted.
   *
   * Needs the permission `suppression_lists:read`.
   *
   * `GET /suppression-lists`
   */
  listSuppressionLists(input?: CallOptions): Call<Data<"listSuppressionLists">>;
  /**
   * Create a suppression list.
   * A list without a scope holds for all mail of the workspace; one with `mailing_list_id` or `segment_id` only for campaigns to that audience. It holds from the first entry on, also for messages that wait.
   *
   * Needs the permission `suppression_lists:write`.
   *
   * `POST /suppression-lists`
   */
  createSuppressionList(input: { body: Body<"createSuppressionList"> } & CallOptions): Call<Data<"createSuppressionList">>;
  /**
   * One suppression list.
   * The list with its number of entries. `GET /suppression-lists/{id}/entries` reads them.
   *
   * Needs the permission `suppression_lists:read`.
   *
   * `GET /suppression-lists/{id}`
   */
  getSuppressionList(input: { id: string } & CallOptions): Call<Data<"getSuppressionList">>;
  /**
   * Change a suppression list; omitted fields stay.
   * Changes name, description or scope. A wider scope also holds for messages that already wait to be sent.
   *
   * Needs the permission `suppression_lists:write`.
   *
   * `PUT /suppression-lists/{id}`
   */
  updateSuppressionList(input: { id: string; body: Body<"updateSuppressionList"> } & CallOptions): Call<Data<"updateSuppressionList">>;
  /**
   * Delete a suppression list with its entries.
   * Its entries are deleted too, and no longer keep recipients from getting mail. The list of bounces and complaints cannot be deleted.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `suppression_lists:write`.
   *
   * `DELETE /suppression-lists/{id}`
   */
  deleteSuppressionList(input: { id: string } & CallOptions): Call<Data<"deleteSuppressionList">>;
  /**
   * The entries of a list, newest first; null when there are none.
   * A page of entries by cursor. With `search` only those whose address or domain begins with the text.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `suppression_lists:read`.
   *
   * `GET /suppression-lists/{id}/entries`
   */
  listSuppressionEntries(input: { id: string; query?: Query<"listSuppressionEntries"> } & CallOptions): PagedCall<Data<"listSuppressionEntries">, "data">;
  /**
   * Add addresses and domains to a list, one a line.
   * One address or domain a line; an entry that exists already is counted as skipped. A domain suppresses every address at it. Messages that wait for a suppressed recipient end as `suppressed`. For a whole file use `POST /suppression-lists/{id}/import`.
   *
   * The body, or the file of the form, may have 4 MiB instead of 1 MiB.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `suppression_lists:write`.
   *
   * `POST /suppression-lists/{id}/entries`
   */
  addSuppressionEntries(input: { id: string; body: Body<"addSuppressionEntries"> } & CallOptions): Call<Data<"addSuppressionEntries">>;
  /**
   * Add the addresses and domains of a file to a list, all or nothing.
   * A CSV or text file with one address or domain a row. A row that is neither is counted as invalid. The entries are added in one transaction: after an error none is.
   *
   * The body, or the file of the form, may have 20 MiB instead of 1 MiB.
   *
   * Needs the permission `suppression_lists:write`.
   *
   * `POST /suppression-lists/{id}/import`
   */
  importSuppressionEntries(input: { id: string; body: Body<"importSuppressionEntries"> } & CallOptions): Call<Data<"importSuppressionEntries">>;
  /**
   * Remove an entry from a list.
   * The address or domain gets mail again, unless another list has it. A person who bounced or complained keeps that status on the mailing lists. A `reason` is kept in the audit log.
   *
   * Needs the permission `suppression_lists:write`.
   *
   * `DELETE /suppression-lists/{id}/entries/{entry_id}`
   */
  deleteSuppressionEntry(input: { id: string; entry_id: string; query?: Query<"deleteSuppressionEntry"> } & CallOptions): Call<Data<"deleteSuppressionEntry">>;
  /**
   * Say of addresses whether they may be mailed, and what keeps mail away from them.
   * For up to 100 addresses it answers every entry that blocks them with its cause, and their state on each mailing list. It changes nothing.
   *
   * Needs the permission `suppression_lists:read`.
   *
   * `POST /suppressions/find`
   */
  findSuppressions(input: { body: Body<"findSuppressions"> } & CallOptions): Call<Data<"findSuppressions">>;
  /**
   * Check whether a list suppresses an address or domain.
   * Tells whether the list holds the address itself or its domain. Nothing is changed. Use it to find out why a person gets no mail.
   *
   * Needs the permission `suppression_lists:read`.
   *
   * `POST /suppression-lists/{id}/test`
   */
  testSuppression(input: { id: string; body: Body<"testSuppression"> } & CallOptions): Call<Data<"testSuppression">>;
  /**
   * List the sending domains, newest first.
   * The domains that the workspace sends from, with the flags of the last check. They are checked again every day.
   *
   * Needs the permission `sending_domains:read`.
   *
   * `GET /sending-domains`
   */
  listSendingDomains(input?: CallOptions): Call<Data<"listSendingDomains">>;
  /**
   * Add a sending domain, and generate its DKIM key.
   * The answer has the token that proves ownership; `GET /sending-domains/{id}/dns-status` has every record to publish. Publish them, then call `POST /sending-domains/{id}/verify`. A workspace has at most 1,000 sending domains.
   *
   * Needs the permission `sending_domains:write`.
   *
   * `POST /sending-domains`
   */
  createSendingDomain(input: { body: Body<"createSendingDomain"> } & CallOptions): Call<Data<"createSendingDomain">>;
  /**
   * Delete a sending domain that no scheduled or sending campaign needs, and destroy its DKIM keys.
   * Mail from the domain is refused from then on, and its DKIM keys are destroyed. Refused (409) while a scheduled or sending campaign needs it.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `sending_domains:write`.
   *
   * `DELETE /sending-domains/{id}`
   */
  deleteSendingDomain(input: { id: string } & CallOptions): Call<Data<"deleteSendingDomain">>;
  /**
   * Show the DNS records to publish and what is published now.
   * Looks everything up now and changes no flag. Use it for a page that shows which records are missing.
   *
   * It asks other servers, and may take longer than a few seconds.
   *
   * Needs the permission `sending_domains:read`.
   *
   * `GET /sending-domains/{id}/dns-status`
   */
  getSendingDomainDnsStatus(input: { id: string } & CallOptions): Call<Data<"getSendingDomainDnsStatus">>;
  /**
   * Check the DNS now and update every flag.
   * Looks everything up now and stores the result. Ownership is enough to send; SPF, DKIM and DMARC decide how well mail is received. A domain that another workspace has proved to own is refused (409). Sends `domain.verified` or `domain.failed`.
   *
   * It asks other servers, and may take longer than a few seconds.
   *
   * Needs the permission `sending_domains:write`.
   *
   * `POST /sending-domains/{id}/verify`
   */
  verifySendingDomain(input: { id: string } & CallOptions): Call<Data<"verifySendingDomain">>;
  /**
   * Switch the domain's own return path on or off; it is used once its record is verified.
   * With its own return path a domain's bounces go to a name below it, and SPF is aligned for DMARC. Publish the record that `dns-status` shows, then verify the domain.
   *
   * Needs the permission `sending_domains:write`.
   *
   * `PATCH /sending-domains/{id}/custom-return-path`
   */
  setCustomReturnPath(input: { id: string; body: Body<"setCustomReturnPath"> } & CallOptions): Call<Data<"setCustomReturnPath">>;
  /**
   * Switch the collection of the domain's DMARC reports on or off.
   * While it is on, `dns-status` shows the record to publish, and reports appear at `GET /sending-domains/{id}/dmarc-reports`.
   *
   * Needs the permission `sending_domains:write`.
   *
   * `PATCH /sending-domains/{id}/dmarc-ingestion`
   */
  setDmarcIngestion(input: { id: string; body: Body<"setDmarcIngestion"> } & CallOptions): Call<Data<"setDmarcIngestion">>;
  /**
   * List the verified senders, newest first.
   * Single addresses that the workspace may send from without owning their domain.
   *
   * Needs the permission `verified_senders:read`.
   *
   * `GET /verified-senders`
   */
  listVerifiedSenders(input?: CallOptions): Call<Data<"listVerifiedSenders">>;
  /**
   * Add a sender address and mail it a confirmation link.
   * Mails a link to the address. The reader of that mailbox confirms by the link, and the workspace may then send from exactly this address. Use a sending domain instead if you can publish DNS records.
   *
   * Needs the permission `verified_senders:write`.
   *
   * `POST /verified-senders`
   */
  createVerifiedSender(input: { body: Body<"createVerifiedSender"> } & CallOptions): Call<Data<"createVerifiedSender">>;
  /**
   * Mail a new confirmation link, at most once a minute; older links stop working.
   * Use it when the first mail was lost or its link is too old. Before a minute has passed it answers 429.
   *
   * Needs the permission `verified_senders:write`.
   *
   * `POST /verified-senders/{id}/resend`
   */
  resendVerifiedSenderLink(input: { id: string } & CallOptions): Call<Data<"resendVerifiedSenderLink">>;
  /**
   * Delete a verified sender that no scheduled or sending campaign needs.
   * Mail from the address is refused from then on. Refused (409) while a scheduled or sending campaign needs it.
   *
   * Needs the permission `verified_senders:write`.
   *
   * `DELETE /verified-senders/{id}`
   */
  deleteVerifiedSender(input: { id: string } & CallOptions): Call<Data<"deleteVerifiedSender">>;
  /**
   * List the DKIM keys, newest first.
   * The keys of all sending domains, without their private halves. The newest verified key of a domain signs its mail.
   *
   * Needs the permission `dkims:read`.
   *
   * `GET /dkims`
   */
  listDkimKeys(input?: CallOptions): Call<Data<"listDkimKeys">>;
  /**
   * Generate a DKIM key for a sending domain.
   * Use it to replace a key: publish the record of the answer, check it with `POST /dkims/{id}/verify-dns`, and delete the old key some days later. Until its record is seen, the old key signs. The private half never leaves the service.
   *
   * Needs the permission `dkims:write`.
   *
   * `POST /dkims`
   */
  createDkimKey(input: { body: Body<"createDkimKey"> } & CallOptions): Call<Data<"createDkimKey">>;
  /**
   * Check that the published record matches the key.
   * Compares the published record with the key. From then on a verified key signs if it is the newest of its domain.
   *
   * It asks other servers, and may take longer than a few seconds.
   *
   * Needs the permission `dkims:write`.
   *
   * `POST /dkims/{id}/verify-dns`
   */
  verifyDkimKeyDns(input: { id: string } & CallOptions): Call<Data<"verifyDkimKeyDns">>;
  /**
   * Delete a DKIM key; the only key of a verified domain cannot be deleted.
   * The private half is destroyed. Mail that was signed with it can be verified as long as its record is published. The only key of a verified domain is refused (409).
   *
   * Needs the permission `dkims:write`.
   *
   * `DELETE /dkims/{id}`
   */
  deleteDkimKey(input: { id: string } & CallOptions): Call<Data<"deleteDkimKey">>;
  /**
   * List the tracking domains, newest first.
   * Domains of your own for the links and pixels in tracked mail, each with the record to publish.
   *
   * Needs the permission `tracking_domains:read`.
   *
   * `GET /tracking-domains`
   */
  listTrackingDomains(input?: CallOptions): Call<Data<"listTrackingDomains">>;
  /**
   * Add a tracking domain.
   * Publish the CNAME record of the answer, then call `POST /tracking-domains/{id}/verify`. Once it is verified, links of mail from its parent domain begin with it. A name that another workspace has claimed is refused (409).
   *
   * Needs the permission `tracking_domains:write`.
   *
   * `POST /tracking-domains`
   */
  createTrackingDomain(input: { body: Body<"createTrackingDomain"> } & CallOptions): Call<Data<"createTrackingDomain">>;
  /**
   * One tracking domain.
   * The domain with the result of the last check and the record to publish.
   *
   * Needs the permission `tracking_domains:read`.
   *
   * `GET /tracking-domains/{id}`
   */
  getTrackingDomain(input: { id: string } & CallOptions): Call<Data<"getTrackingDomain">>;
  /**
   * Rename a tracking domain; the new name has to be verified.
   * The new name starts unverified. Links in sent mail keep the old name, and work as long as its DNS record exists.
   *
   * Needs the permission `tracking_domains:write`.
   *
   * `PUT /tracking-domains/{id}`
   */
  updateTrackingDomain(input: { id: string; body: Body<"updateTrackingDomain"> } & CallOptions): Call<Data<"updateTrackingDomain">>;
  /**
   * Delete a tracking domain; links in sent mail work as long as its DNS record exists.
   * New mail uses the service's own address in links. Leave the DNS record in place for as long as links of sent mail should work.
   *
   * Needs the permission `tracking_domains:write`.
   *
   * `DELETE /tracking-domains/{id}`
   */
  deleteTrackingDomain(input: { id: string } & CallOptions): Call<Data<"deleteTrackingDomain">>;
  /**
   * Look for the CNAME record now.
   * Looks up the CNAME record, and checks that HTTPS works there. Records that were just published may take some minutes to be visible; call it again.
   *
   * It asks other servers, and may take longer than a few seconds.
   *
   * Needs the permission `tracking_domains:write`.
   *
   * `POST /tracking-domains/{id}/verify`
   */
  verifyTrackingDomain(input: { id: string } & CallOptions): Call<Data<"verifyTrackingDomain">>;
  /**
   * List the sending IPs with the state of their warm-up, newest first.
   * The addresses that this workspace has to itself, each with how far its warm-up has come with every mailbox provider.
   *
   * Needs the permission `sending_ips:read`.
   *
   * `GET /sending-ips`
   */
  listSendingIps(input?: CallOptions): Call<Data<"listSendingIps">>;
  /**
   * Claim an address of the delivery machines for this workspace.
   * The address must be one of the delivery machines and not claimed by another workspace. A routing rule then sends mail from it. Switch the warm-up on for an address that has sent nothing yet.
   *
   * Needs the permission `sending_ips:write`.
   *
   * `POST /sending-ips`
   */
  createSendingIp(input: { body: Body<"createSendingIp"> } & CallOptions): Call<Data<"createSendingIp">>;
  /**
   * What an address in warm-up sent on each day to each provider, newest first.
   * One row for a day and provider with mail, kept for 400 days. Compare `sent` with `ceiling`, and see which days were repeated because too much was deferred. Days before the version that has this are missing.
   *
   * Needs the permission `sending_ips:read`.
   *
   * `GET /sending-ips/{id}/warm-up-history`
   */
  listWarmUpHistory(input: { id: string; query?: Query<"listWarmUpHistory"> } & CallOptions): PagedCall<Data<"listWarmUpHistory">, "days">;
  /**
   * One sending IP with the state of its warm-up.
   * The address with today's numbers of its warm-up.
   *
   * Needs the permission `sending_ips:read`.
   *
   * `GET /sending-ips/{id}`
   */
  getSendingIp(input: { id: string } & CallOptions): Call<Data<"getSendingIp">>;
  /**
   * Change a sending IP, or switch its warm-up on or off; omitted fields stay.
   * Deactivating an address lets its mail leave by the remaining rules. Switching the warm-up on starts it from the first day.
   *
   * Needs the permission `sending_ips:write`.
   *
   * `PATCH /sending-ips/{id}`
   */
  updateSendingIp(input: { id: string; body: Body<"updateSendingIp"> } & CallOptions): Call<Data<"updateSendingIp">>;
  /**
   * Delete a sending IP; mail that waits for it leaves by the remaining rules.
   * The address is free for other workspaces again. Refused (409) while a routing rule or an unfinished campaign names it.
   *
   * Needs the permission `sending_ips:write`.
   *
   * `DELETE /sending-ips/{id}`
   */
  deleteSendingIp(input: { id: string } & CallOptions): Call<Data<"deleteSendingIp">>;
  /**
   * List the routing rules in the order in which they are tried.
   * A message takes the first active, automatic rule that matches it, in this order; without one it leaves by the default route. A campaign may name a rule itself.
   *
   * Needs the permission `routing_rules:read`.
   *
   * `GET /routing-rules`
   */
  listRoutingRules(input?: CallOptions): Call<Data<"listRoutingRules">>;
  /**
   * Add a routing rule.
   * Sends matching messages from chosen addresses or over a relay. The rule holds for messages that are sent from now on, also for those that wait. Credentials of a relay are stored sealed and never shown.
   *
   * Needs the permission `routing_rules:write`.
   *
   * `POST /routing-rules`
   */
  createRoutingRule(input: { body: Body<"createRoutingRule"> } & CallOptions): Call<Data<"createRoutingRule">>;
  /**
   * One routing rule.
   * The rule without the credentials of its relay.
   *
   * Needs the permission `routing_rules:read`.
   *
   * `GET /routing-rules/{id}`
   */
  getRoutingRule(input: { id: string } & CallOptions): Call<Data<"getRoutingRule">>;
  /**
   * Change a routing rule; omitted fields stay, match and action are replaced as a whole.
   * The change holds within seconds, also for messages that wait. A relay that is sent back as it is shown keeps its password.
   *
   * Needs the permission `routing_rules:write`.
   *
   * `PATCH /routing-rules/{id}`
   */
  updateRoutingRule(input: { id: string; body: Body<"updateRoutingRule"> } & CallOptions): Call<Data<"updateRoutingRule">>;
  /**
   * Delete a routing rule that no scheduled or sending campaign names.
   * Messages that wait take the next rule that matches. Refused (409) while a scheduled or sending campaign names it.
   *
   * Needs the permission `routing_rules:write`.
   *
   * `DELETE /routing-rules/{id}`
   */
  deleteRoutingRule(input: { id: string } & CallOptions): Call<Data<"deleteRoutingRule">>;
  /**
   * Show how a message to a recipient would leave, without sending it.
   * Looks up the mail hosts of the recipient and decides by the code that sends: which rule applies, and from which address or through which relay the message leaves. Rules depend on the recipient alone, so sender and tags make no difference. In capture mode nothing leaves; the answer is that of direct mode.
   *
   * It asks other servers, and may take longer than a few seconds.
   *
   * Needs the permission `routing_rules:read`.
   *
   * `POST /routing-rules/test`
   */
  testRouting(input: { body: Body<"testRouting"> } & CallOptions): Call<Data<"testRouting">>;
  /**
   * List DMARC reports about the domain, with totals by source.
   * The sources that send mail in the name of the domain, and whether it passes DMARC, as the receivers report it. Use it to find senders that are not set up yet before `p=reject` is published. Reports come once a day.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `sending_domains:read`.
   *
   * `GET /sending-domains/{id}/dmarc-reports`
   */
  listDmarcReports(input: { id: string; query?: Query<"listDmarcReports"> } & CallOptions): PagedCall<Data<"listDmarcReports">, "reports">;
  /**
   * List TLS reports (TLS-RPT): how often others could deliver to the domain over TLS.
   * Other servers report how often they could deliver to the domain over TLS. Use it before and after a policy of MTA-STS or DANE is published.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `sending_domains:read`.
   *
   * `GET /sending-domains/{id}/tls-reports`
   */
  listTlsReports(input: { id: string; query?: Query<"listTlsReports"> } & CallOptions): PagedCall<Data<"listTlsReports">, "reports">;
  /**
   * List the inbound routes in the order in which they are tried.
   * Mail takes the first active route whose pattern matches its recipient: by `priority`, then exact addresses before those with a `*`, then the longer pattern. Mail without a route is refused.
   *
   * Needs the permission `inbound_routes:read`.
   *
   * `GET /inbound-routes`
   */
  listInboundRoutes(input?: { query?: Query<"listInboundRoutes"> } & CallOptions): PagedCall<Data<"listInboundRoutes">, "inbound_routes">;
  /**
   * Receive mail to an address, a group of addresses or a whole domain.
   * Publish the MX record that `GET /sending-domains/{id}/dns-status` then shows for the domain. A workspace has at most 200 inbound routes.
   *
   * Needs the permission `inbound_routes:write`.
   *
   * `POST /inbound-routes`
   */
  createInboundRoute(input: { body: Body<"createInboundRoute"> } & CallOptions): Call<Data<"createInboundRoute">>;
  /**
   * One inbound route.
   * Its addresses, what becomes of their mail, and whether it is received now.
   *
   * Needs the permission `inbound_routes:read`.
   *
   * `GET /inbound-routes/{id}`
   */
  getInboundRoute(input: { id: string } & CallOptions): Call<Data<"getInboundRoute">>;
  /**
   * Change an inbound route; omitted fields stay.
   * The change holds for mail whose recipient is named from now on.
   *
   * Needs the permission `inbound_routes:write`.
   *
   * `PATCH /inbound-routes/{id}`
   */
  updateInboundRoute(input: { id: string; body: Body<"updateInboundRoute"> } & CallOptions): Call<Data<"updateInboundRoute">>;
  /**
   * Delete an inbound route; mail that it has received stays.
   * Mail to its addresses takes the next route that matches, or is refused. With the last active route of a domain, all mail to the domain is refused.
   *
   * Needs the permission `inbound_routes:write`.
   *
   * `DELETE /inbound-routes/{id}`
   */
  deleteInboundRoute(input: { id: string } & CallOptions): Call<Data<"deleteInboundRoute">>;
  /**
   * List the mail that inbound routes have received, newest first.
   * Mail of routes with `keep`. Combine the filters to find one; for long lists follow `pagination.next_cursor`.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `received_emails:read`.
   *
   * `GET /received-emails`
   */
  listReceivedEmails(input?: { query?: Query<"listReceivedEmails"> } & CallOptions): PagedCall<Data<"listReceivedEmails">, "received_emails">;
  /**
   * One received mail: addresses, text, HTML, header fields, attachments, authentication.
   * Everything in it was written by its sender: `authentication.dmarc` says whether that is who From says. Attachments are downloaded one by one.
   *
   * Needs the permission `received_emails:read`.
   *
   * `GET /received-emails/{id}`
   */
  getReceivedEmail(input: { id: string } & CallOptions): Call<Data<"getReceivedEmail">>;
  /**
   * Delete a received mail with its attachments, and free its storage.
   * What webhooks were told of it stays in their deliveries until these are removed.
   *
   * Needs the permission `received_emails:write`.
   *
   * `DELETE /received-emails/{id}`
   */
  deleteReceivedEmail(input: { id: string } & CallOptions): Call<Data<"deleteReceivedEmail">>;
  /**
   * Download an attachment of a received mail.
   * The decoded file, always as application/octet-stream, so that no browser runs it. It was not scanned for viruses.
   *
   * It may take longer than a few seconds for a large mail.
   *
   * Needs the permission `received_emails:read`.
   *
   * `GET /received-emails/{id}/attachments/{attachment_id}`
   */
  downloadReceivedAttachment(input: { id: string; attachment_id: string; query?: Query<"downloadReceivedAttachment"> } & CallOptions): Call<Data<"downloadReceivedAttachment">>;
  /**
   * The source of a received mail, a file that mail programs open.
   * A file in the format of RFC 5322 (.eml), octet by octet as it arrived.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `received_emails:read`.
   *
   * `GET /received-emails/{id}/source`
   */
  downloadReceivedSource(input: { id: string; query?: Query<"downloadReceivedSource"> } & CallOptions): Call<Data<"downloadReceivedSource">>;
  /**
   * One DMARC report.
   * `listDmarcReports` has the ids of reports, and figures over all of them.
   *
   * Needs the permission `sending_domains:read`.
   *
   * `GET /sending-domains/{id}/dmarc-reports/{report_id}`
   */
  getDmarcReport(input: { id: string; report_id: string } & CallOptions): Call<Data<"getDmarcReport">>;
  /**
   * The records of a DMARC report: who sent how much, with which results.
   * The records in the order of the report, with the host behind each address.
   *
   * Needs the permission `sending_domains:read`.
   *
   * `GET /sending-domains/{id}/dmarc-reports/{report_id}/records`
   */
  listDmarcRecords(input: { id: string; report_id: string; query?: Query<"listDmarcRecords"> } & CallOptions): PagedCall<Data<"listDmarcRecords">, "records">;
  /**
   * Download a DMARC report as it came, in XML.
   * The document is kept with the report, except for large ones (more than 256 KiB as gzip, or 4 MiB of a domain in a day), for files with several reports, and for reports about the organisational domain, which also have records of other domains: 404.
   *
   * Needs the permission `sending_domains:read`.
   *
   * `GET /sending-domains/{id}/dmarc-reports/{report_id}/xml`
   */
  downloadDmarcReport(input: { id: string; report_id: string; query?: Query<"downloadDmarcReport"> } & CallOptions): Call<Data<"downloadDmarcReport">>;
  /**
   * Host, ports and user name for sending by SMTP.
   * For programs that speak SMTP and not HTTP, and for the page that tells people what to fill in. It follows from the settings of the machine that answers, so give machines with other roles the same ones.
   *
   * Any valid key, and any member of the workspace, may call this.
   *
   * `GET /smtp-settings`
   */
  getSmtpSettings(input?: CallOptions): Call<Data<"getSmtpSettings">>;
  /**
   * Templates and layouts without their content, those that were changed last first.
   * What mails can be made from. `POST /render` with `template_id` shows one as a mail. `search` finds parts of name and subject.
   *
   * Needs the permission `templates:read`.
   *
   * `GET /templates`
   */
  listTemplates(input?: { query?: Query<"listTemplates"> } & CallOptions): PagedCall<Data<"listTemplates">, "templates">;
  /**
   * Create a template from HTML, MJML or a design, or a layout around templates.
   * The content is compiled and tried at once: faults are refused with their lines, and `warnings` names merge tags without a value. A workspace has at most 1,000 templates.
   *
   * The body, or the file of the form, may have 30 MiB instead of 1 MiB.
   *
   * It may take longer than a few seconds for a large mail.
   *
   * Needs the permission `templates:write`.
   *
   * `POST /templates`
   */
  createTemplate(input: { body: Body<"createTemplate"> } & CallOptions): Call<Data<"createTemplate">>;
  /**
   * Designs to begin with, such as a newsletter or a receipt.
   * Twelve designs with subject, preheader and sample values. `POST /templates` makes a template of one: send its fields, changed as you like. They use no pictures of other hosts.
   *
   * Needs the permission `templates:read`.
   *
   * `GET /templates/starters`
   */
  listTemplateStarters(input?: CallOptions): Call<Data<"listTemplateStarters">>;
  /**
   * One template with its content, as written and as sent.
   * The body is in the field in which it was written; `compiled_html` is what is sent, before merge tags have their values.
   *
   * Needs the permission `templates:read`.
   *
   * `GET /templates/{id}`
   */
  getTemplate(input: { id: string; query?: Query<"getTemplate"> } & CallOptions): Call<Data<"getTemplate">>;
  /**
   * Change some fields of a template; new content is a new version.
   * Omitted fields stay as they are. Versions never change, and the last 100 are kept. A change of a layout gives each template in it a new version, too. What was made from the template before stays as it is: campaigns and autoresponders have a copy. Send `If-Match` with the ETag of the version you have seen to get 412 if another request has changed it.
   *
   * The body, or the file of the form, may have 30 MiB instead of 1 MiB.
   *
   * It may take longer than a few seconds for a large mail.
   *
   * Needs the permission `templates:write`.
   *
   * `PATCH /templates/{id}`
   */
  updateTemplate(input: { id: string; body: Body<"updateTemplate">; query?: Query<"updateTemplate"> } & CallOptions): Call<Data<"updateTemplate">>;
  /**
   * Delete a template with all its versions.
   * Campaigns and autoresponders keep the content that they took from it. A layout that wraps templates is not deleted (409); `used_by` names them.
   *
   * Needs the permission `templates:write`.
   *
   * `DELETE /templates/{id}`
   */
  deleteTemplate(input: { id: string } & CallOptions): Call<Data<"deleteTemplate">>;
  /**
   * Duplicate a template with its present content.
   * The copy begins with version 1. Templates in a layout stay in the original.
   *
   * It may take longer than a few seconds for a large mail.
   *
   * Needs the permission `templates:write`.
   *
   * `POST /templates/{id}/duplicate`
   */
  duplicateTemplate(input: { id: string } & CallOptions): Call<Data<"duplicateTemplate">>;
  /**
   * The versions of a template without their content, the newest first.
   * Who saved what, and when. The last 100 versions are kept.
   *
   * Needs the permission `templates:read`.
   *
   * `GET /templates/{id}/versions`
   */
  listTemplateVersions(input: { id: string; query?: Query<"listTemplateVersions"> } & CallOptions): PagedCall<Data<"listTemplateVersions">, "versions">;
  /**
   * One version of a template with its content.
   * The content as it was written and as it was sent. It never changes.
   *
   * Needs the permission `templates:read`.
   *
   * `GET /templates/{id}/versions/{version_id}`
   */
  getTemplateVersion(input: { id: string; version_id: string } & CallOptions): Call<Data<"getTemplateVersion">>;
  /**
   * Make the content of an older version the present one, as a new version.
   * Nothing is lost: the present content stays in its own version. Restoring the present content makes no version. The content is compiled again, with its layout as it is now. Refused (400) if that layout was deleted.
   *
   * It may take longer than a few seconds for a large mail.
   *
   * Needs the permission `templates:write`.
   *
   * `POST /templates/{id}/versions/{version_id}/restore`
   */
  restoreTemplateVersion(input: { id: string; version_id: string } & CallOptions): Call<Data<"restoreTemplateVersion">>;
  /**
   * Send a template as a test mail to a few addresses.
   * The mail is rendered as by `POST /render`, with the test data of the template, and marked as a test. A subscriber gets their own values. It counts in the plan's allowance. The key also needs `templates:read`.
   *
   * Needs the permission `templates:send`.
   *
   * `POST /templates/{id}/test`
   */
  testTemplate(input: { id: string; body: Body<"testTemplate"> } & CallOptions): Call<Data<"testTemplate">>;
  /**
   * Campaigns with their counts and rates, by default newest first.
   * A page of campaigns with their results, without their content. `search` finds parts of name and subject.
   *
   * Needs the permission `campaigns:read`.
   *
   * `GET /campaigns`
   */
  listCampaigns(input?: { query?: Query<"listCampaigns"> } & CallOptions): PagedCall<Data<"listCampaigns">, "campaigns">;
  /**
   * Create a campaign as a draft.
   * A draft can be changed and tested; `POST /campaigns/{id}/send` sends it. Its content is html_content, text_content or both, or is made from `mjml` or `design`, or taken over from the template `template_id`. Merge tags are checked at once, and `warnings` names what would show nothing. A workspace has at most 10,000 campaigns.
   *
   * The body, or the file of the form, may have 30 MiB instead of 1 MiB.
   *
   * It may take longer than a few seconds for a large mail.
   *
   * Needs the permission `campaigns:write`.
   *
   * `POST /campaigns`
   */
  createCampaign(input: { body: Body<"createCampaign"> } & CallOptions): Call<Data<"createCampaign">>;
  /**
   * One campaign with its content, settings and counts.
   * Content, settings and results. Use `GET /campaigns/{id}/activity` and the calls beside it for charts.
   *
   * Needs the permission `campaigns:read`.
   *
   * `GET /campaigns/{id}`
   */
  getCampaign(input: { id: string; query?: Query<"getCampaign"> } & CallOptions): Call<Data<"getCampaign">>;
  /**
   * Change some fields of a draft; omitted fields stay as they are.
   * Made for editors that save while a person types: send `If-Match` with the ETag of the version you have seen, and get 412 with the present version if another request has changed it. Without it the last writer wins. Only drafts can be changed.
   *
   * The body, or the file of the form, may have 30 MiB instead of 1 MiB.
   *
   * It may take longer than a few seconds for a large mail.
   *
   * Needs the permission `campaigns:write`.
   *
   * `PATCH /campaigns/{id}`
   */
  updateCampaign(input: { id: string; body: Body<"updateCampaign">; query?: Query<"updateCampaign"> } & CallOptions): Call<Data<"updateCampaign">>;
  /**
   * Replace a draft; omitted fields return to their defaults.
   * Send the whole draft: a field that is missing returns to its default. Any other status than `draft` is refused (409); `POST /campaigns/{id}/duplicate` makes a new draft of it. Takes `If-Match` as PATCH does.
   *
   * The body, or the file of the form, may have 30 MiB instead of 1 MiB.
   *
   * It may take longer than a few seconds for a large mail.
   *
   * Needs the permission `campaigns:write`.
   *
   * `PUT /campaigns/{id}`
   */
  replaceCampaign(input: { id: string; body: Body<"replaceCampaign"> } & CallOptions): Call<Data<"replaceCampaign">>;
  /**
   * Delete a campaign that is not sending; its messages stay in the log.
   * Possible in every status except `sending`. Deleting a paused campaign cancels its waiting messages. Results stay in reports, with the campaign's name. Takes `If-Match` as PATCH does.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `campaigns:write`.
   *
   * `DELETE /campaigns/{id}`
   */
  deleteCampaign(input: { id: string } & CallOptions): Call<Data<"deleteCampaign">>;
  /**
   * Send a draft now, or at its scheduled time.
   * Checks content, recipients and sender again, and schedules the campaign or begins to send. Recipients are chosen when sending begins, not now. A draft with `scheduled_at` leaves at that time unless `send_now` is true. Send `If-Match` with the ETag of the version that a person has approved, to get 412 if it was changed since. `campaign.sent` is sent when every message had its first attempt.
   *
   * Needs the permission `campaigns:send`.
   *
   * `POST /campaigns/{id}/send`
   */
  sendCampaign(input: { id: string; body?: Body<"sendCampaign"> } & CallOptions): Call<Data<"sendCampaign">>;
  /**
   * Ask those who may send for approval of a draft.
   * For people who write campaigns and may not send them. The draft must pass the checks of `POST /campaigns/{id}/send`. Callers with `campaigns:send` get a notice (`GET /notices`) until the campaign is sent, scheduled or changed. If approval of this version was asked before, the answer is the campaign with that request.
   *
   * Needs the permission `campaigns:write`.
   *
   * `POST /campaigns/{id}/request-approval`
   */
  requestApproval(input: { id: string; body?: Body<"requestApproval"> } & CallOptions): Call<Data<"requestApproval">>;
  /**
   * Pause a sending campaign; messages being sent are finished, no others are sent.
   * Sends `campaign.paused`. `POST /campaigns/{id}/resume` continues.
   *
   * Needs the permission `campaigns:send`.
   *
   * `POST /campaigns/{id}/pause`
   */
  pauseCampaign(input: { id: string } & CallOptions): Call<Data<"pauseCampaign">>;
  /**
   * Resume a paused campaign where it stopped.
   * People who left in the meantime get nothing. Refused (409) if the audience no longer exists.
   *
   * Needs the permission `campaigns:send`.
   *
   * `POST /campaigns/{id}/resume`
   */
  resumeCampaign(input: { id: string } & CallOptions): Call<Data<"resumeCampaign">>;
  /**
   * Cancel a campaign permanently; messages that were not sent are cancelled.
   * Works while it is scheduled, sending or paused, and cannot be undone. Messages that were sent stay sent.
   *
   * Needs the permission `campaigns:send`.
   *
   * `POST /campaigns/{id}/cancel`
   */
  cancelCampaign(input: { id: string } & CallOptions): Call<Data<"cancelCampaign">>;
  /**
   * Turn a scheduled campaign back into a draft.
   * Its time is kept in `scheduled_at`; change the draft, or send it again. Refused (409) once sending has begun.
   *
   * Needs the permission `campaigns:send`.
   *
   * `POST /campaigns/{id}/unschedule`
   */
  unscheduleCampaign(input: { id: string } & CallOptions): Call<Data<"unscheduleCampaign">>;
  /**
   * Duplicate a campaign in any status as a new draft.
   * Content and settings are copied, results are not. The schedule is not copied either.
   *
   * Needs the permission `campaigns:write`.
   *
   * `POST /campaigns/{id}/duplicate`
   */
  duplicateCampaign(input: { id: string } & CallOptions): Call<Data<"duplicateCampaign">>;
  /**
   * Send a test of the mail to a few addresses.
   * The mail is rendered as for a recipient and marked as a test; it counts in the plan's allowance and in no result of the campaign. The campaign does not change.
   *
   * Needs the permission `campaigns:send`.
   *
   * `POST /campaigns/{id}/test`
   */
  testCampaign(input: { id: string; body: Body<"testCampaign"> } & CallOptions): Call<Data<"testCampaign">>;
  /**
   * Activity of a campaign since it was sent, hour by hour, cumulative.
   * One entry an hour with the sums up to then, for a chart.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `campaigns:read`.
   *
   * `GET /campaigns/{id}/activity`
   */
  getCampaignActivity(input: { id: string } & CallOptions): Call<Data<"getCampaignActivity">>;
  /**
   * Delivery results by recipient domain, largest first.
   * How the messages fared at each recipient domain. Use it to see which mailbox provider refuses or delays mail.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `campaigns:read`.
   *
   * `GET /campaigns/{id}/smtp-domain-stats`
   */
  getCampaignDomainStats(input: { id: string; query?: Query<"getCampaignDomainStats"> } & CallOptions): PagedCall<Data<"getCampaignDomainStats">, "stats">;
  /**
   * The messages of a campaign with their status.
   * Every message with its state and last reply. For long lists follow `pagination.next_cursor`.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `campaigns:read`.
   *
   * `GET /campaigns/{id}/messages`
   */
  listCampaignMessages(input: { id: string; query?: Query<"listCampaignMessages"> } & CallOptions): PagedCall<Data<"listCampaignMessages">, "messages">;
  /**
   * Recent activity of recipients, newest first.
   * Opens, clicks, unsubscriptions and complaints as they come in.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `campaigns:read`.
   *
   * `GET /campaigns/{id}/recent-activity`
   */
  listCampaignActivities(input: { id: string; query?: Query<"listCampaignActivities"> } & CallOptions): PagedCall<Data<"listCampaignActivities">, "activities">;
  /**
   * The tracked links of a campaign with their clicks.
   * Each link of the content with the clicks by people, in the order of the content: all of them, at most 25,000, which is what one mail can have.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `campaigns:read`.
   *
   * `GET /campaigns/{id}/links`
   */
  listCampaignLinks(input: { id: string } & CallOptions): Call<Data<"listCampaignLinks">>;
  /**
   * Change where a tracked link of sent mail leads.
   * For a wrong or outdated link in mail that has left. Clicks from now on lead to `target_url`, as do the links of the mail in the browser; clicks until now keep their count and the target that they had. null takes the change back. Refused (409) for a campaign of which no mail has left, and for links with merge tags, whose targets are in the mails themselves. Links are tracked only if the campaign was sent with click tracking.
   *
   * Needs the permission `campaigns:send`.
   *
   * `PATCH /campaigns/{id}/links`
   */
  updateCampaignLink(input: { id: string; body: Body<"updateCampaignLink"> } & CallOptions): Call<Data<"updateCampaignLink">>;
  /**
   * When a link of a campaign was clicked, hour by hour.
   * First and last click, and clicks by hour for the 30 days after the first. It is read from the message log, so it is complete as long as the log is kept.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `campaigns:read`.
   *
   * `GET /campaigns/{id}/links/activity`
   */
  getCampaignLinkActivity(input: { id: string; query?: Query<"getCampaignLinkActivity"> } & CallOptions): Call<Data<"getCampaignLinkActivity">>;
  /**
   * Devices, operating systems and mail programs with which a campaign was read.
   * Opens and clicks by what their User-Agent says, people and programs apart. They are counted in the message log, so the figures are complete as long as the log is kept, and up to 500,000 opens and as many clicks; they may be a minute old. Gmail, Yahoo and Outlook fetch pictures through proxies, which name the service and hide the device. No country is shown, because addresses of readers are not stored.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `campaigns:read`.
   *
   * `GET /campaigns/{id}/clients`
   */
  getCampaignClients(input: { id: string } & CallOptions): Call<Data<"getCampaignClients">>;
  /**
   * Export recipients of a campaign and what they did to a CSV file, in the background.
   * Takes the filters of `listCampaignMessages`. Follow the job with `getJob` and download its result. The file has one row for each recipient.
   *
   * Needs the permission `campaigns:write`.
   *
   * `POST /campaigns/{id}/messages/export-async`
   */
  exportCampaignRecipients(input: { id: string; body?: Body<"exportCampaignRecipients"> } & CallOptions): Call<Data<"exportCampaignRecipients">>;
  /**
   * Save the recipients of a campaign who did something as a segment of a list.
   * The segment has rules on what people did with the campaign, so it follows later opens and clicks. It has active members only, except with `unsubscribed`: true, which selects members of any status. `list_id` is needed when the campaign was not sent to one list.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `segments:write`.
   *
   * `POST /campaigns/{id}/segments`
   */
  createSegmentFromCampaign(input: { id: string; body: Body<"createSegmentFromCampaign"> } & CallOptions): Call<Data<"createSegmentFromCampaign">>;
  /**
   * Render a mail as it would be sent to one person, without sending it.
   * Renders with the code that sends, for a subscriber, the first person of the audience, or a sample person: a campaign, a step of an autoresponder, a template, or content that is not stored. A template is shown as it is, with its test data and without an added unsubscribe link. The answer has the mail and the address of a page that shows it for five minutes. Of an SMS campaign it has the text, the number and how many SMS it takes. Nothing is sent or counted.
   *
   * The body, or the file of the form, may have 30 MiB instead of 1 MiB.
   *
   * It may take longer than a few seconds for a large mail.
   *
   * Needs the permission `campaigns:read`.
   *
   * `POST /render`
   */
  renderContent(input: { body: Body<"renderContent"> } & CallOptions): Call<Data<"renderContent">>;
  /**
   * The merge tags that the content of a campaign or an autoresponder can use.
   * The built-in tags, in the order in which an editor would offer them, and the active custom fields in display order: with `list_id` those of that list and of all lists, without it those of all lists only. A value that a person lacks shows nothing.
   *
   * Needs the permission `campaigns:read`.
   *
   * `GET /merge-tags`
   */
  listMergeTags(input?: { query?: Query<"listMergeTags"> } & CallOptions): Call<Data<"listMergeTags">>;
  /**
   * Pictures, newest first.
   * Pictures that were uploaded for mail, with their public addresses and what uses them.
   *
   * Needs the permission `media:read`.
   *
   * `GET /media`
   */
  listMedia(input?: { query?: Query<"listMedia"> } & CallOptions): PagedCall<Data<"listMedia">, "media">;
  /**
   * Upload a picture for mail.
   * PNG, JPEG, GIF (animated, too) and WebP. The picture is written again, so that nothing but its pixels is stored: Exif data such as the place where it was taken is removed, and its orientation applied. The answer has its public address. The same file is stored once: uploaded again, the answer is the picture that is there. It counts in the storage of the plan.
   *
   * The body, or the file of the form, may have 10 MiB instead of 1 MiB.
   *
   * It may take longer than a few seconds for a large mail.
   *
   * Needs the permission `media:write`.
   *
   * `POST /media`
   */
  uploadMedia(input: { body: Body<"uploadMedia"> } & CallOptions): Call<Data<"uploadMedia">>;
  /**
   * One picture.
   * The picture with its public address and what uses it. The file itself is at `url`.
   *
   * Needs the permission `media:read`.
   *
   * `GET /media/{id}`
   */
  getMedia(input: { id: string } & CallOptions): Call<Data<"getMedia">>;
  /**
   * Change the name or the alternative text of a picture.
   * Omitted fields stay. `url` ends with the new name; addresses with the old one work, too. Mail and drafts that show the picture do not change.
   *
   * Needs the permission `media:write`.
   *
   * `PATCH /media/{id}`
   */
  updateMedia(input: { id: string; body: Body<"updateMedia"> } & CallOptions): Call<Data<"updateMedia">>;
  /**
   * Delete a picture that no campaign, autoresponder, template or brand shows.
   * Its address answers 404 from now on, also in transactional mail that shows it. 409 while a campaign, sent ones included, a step of an autoresponder, the present version of a template or the brand shows it; the message names them.
   *
   * Needs the permission `media:write`.
   *
   * `DELETE /media/{id}`
   */
  deleteMedia(input: { id: string } & CallOptions): Call<Data<"deleteMedia">>;
  /**
   * Find what would go wrong if a campaign were sent, who would get it, and what it costs.
   * Renders the campaign as it would be sent and looks at content, links, images, sender and audience. Each finding has a place and says what to do. The servers of the first 50 links and the first 50 images are asked for them, and the spam scanner of the installation, if it has one, is asked for its score. Nothing is sent. The check ends within ten seconds; what could not be found out in time is listed in `unchecked`.
   *
   * It asks other servers, and may take longer than a few seconds.
   *
   * Needs the permission `campaigns:read`.
   *
   * `POST /campaigns/{id}/check`
   */
  checkCampaign(input: { id: string } & CallOptions): Call<Data<"checkCampaign">>;
  /**
   * Find what would go wrong with a mail that is not stored, or is being edited.
   * Checks content as POST /campaigns/{id}/check does: that of the body alone, or a campaign or a step of an autoresponder with the fields of the body in place of its own. Nothing is stored or sent. Audience, cost and duration are only those of a campaign. An editor that checks while a person writes leaves out `links`, `images` and `spam_score`, and the answer comes at once.
   *
   * The body, or the file of the form, may have 30 MiB instead of 1 MiB.
   *
   * It asks other servers, and may take longer than a few seconds.
   *
   * Needs the permission `campaigns:read`.
   *
   * `POST /check`
   */
  checkContent(input: { body: Body<"checkContent"> } & CallOptions): Call<Data<"checkContent">>;
  /**
   * How far a campaign is: counts by state, rate, ETA and what limits it.
   * Cheap enough to ask for every second; the topic `campaign:<id>` of `streamEvents` has the same counts. `limited_by` says why it is not faster.
   *
   * Needs the permission `campaigns:read`.
   *
   * `GET /campaigns/{id}/progress`
   */
  getCampaignProgress(input: { id: string } & CallOptions): Call<Data<"getCampaignProgress">>;
  /**
   * Autoresponders with their counts, newest first.
   * Series of mails that people get one after another, with how many were sent, opened and clicked.
   *
   * Needs the permission `autoresponders:read`.
   *
   * `GET /autoresponders`
   */
  listAutoresponders(input?: { query?: Query<"listAutoresponders"> } & CallOptions): PagedCall<Data<"listAutoresponders">, "autoresponders">;
  /**
   * Create an autoresponder; it is inactive.
   * A series starts when a person becomes an active member of the list, or on a date in a custom field. Nothing is sent until `POST /autoresponders/{id}/activate`.
   *
   * The body, or the file of the form, may have 10 MiB instead of 1 MiB.
   *
   * It may take longer than a few seconds for a large mail.
   *
   * Needs the permission `autoresponders:write`.
   *
   * `POST /autoresponders`
   */
  createAutoresponder(input: { body: Body<"createAutoresponder"> } & CallOptions): Call<Data<"createAutoresponder">>;
  /**
   * One autoresponder with its steps.
   * The series with the content of every step.
   *
   * Needs the permission `autoresponders:read`.
   *
   * `GET /autoresponders/{id}`
   */
  getAutoresponder(input: { id: string } & CallOptions): Call<Data<"getAutoresponder">>;
  /**
   * Replace an autoresponder, active or not; omitted fields return to their defaults.
   * Send the `id` of a step to change it; a step without an id is new, and one that is missing is removed with its queued mail. People who are in the series continue with the changed steps.
   *
   * The body, or the file of the form, may have 10 MiB instead of 1 MiB.
   *
   * It may take longer than a few seconds for a large mail.
   *
   * Needs the permission `autoresponders:write`.
   *
   * `PUT /autoresponders/{id}`
   */
  replaceAutoresponder(input: { id: string; body: Body<"replaceAutoresponder"> } & CallOptions): Call<Data<"replaceAutoresponder">>;
  /**
   * Delete an autoresponder; its queued mail is cancelled, its sent mail stays in the log.
   * Figures and messages stay in reports and in the log, with its name.
   *
   * Needs the permission `autoresponders:write`.
   *
   * `DELETE /autoresponders/{id}`
   */
  deleteAutoresponder(input: { id: string } & CallOptions): Call<Data<"deleteAutoresponder">>;
  /**
   * Start or resume: people who join from now on get the series.
   * Content, sender and list are checked again. People who joined while it was inactive do not get the series.
   *
   * Needs the permission `autoresponders:send`.
   *
   * `POST /autoresponders/{id}/activate`
   */
  activateAutoresponder(input: { id: string } & CallOptions): Call<Data<"activateAutoresponder">>;
  /**
   * Stop at once: messages being sent are finished, no others are sent.
   * Queued mail waits, and is sent after the next activation. No person starts the series while it is inactive.
   *
   * Needs the permission `autoresponders:send`.
   *
   * `POST /autoresponders/{id}/deactivate`
   */
  deactivateAutoresponder(input: { id: string } & CallOptions): Call<Data<"deactivateAutoresponder">>;
  /**
   * The steps of an autoresponder with their figures, and how many people wait for each.
   * The steps in their order. `getAutoresponder` has their content, `listWaitingPeople` the people who wait.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `autoresponders:read`.
   *
   * `GET /autoresponders/{id}/steps`
   */
  listAutoresponderSteps(input: { id: string } & CallOptions): Call<Data<"listAutoresponderSteps">>;
  /**
   * People who wait for their next mail of an autoresponder, the next mail first.
   * People are counted up to 10,000; beyond that `pagination.total_is_exact` is false. For long lists follow `pagination.next_cursor`. It also requires `subscribers:read`.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `autoresponders:read`.
   *
   * `GET /autoresponders/{id}/waiting`
   */
  listWaitingPeople(input: { id: string; query?: Query<"listWaitingPeople"> } & CallOptions): PagedCall<Data<"listWaitingPeople">, "people">;
  /**
   * The mails of an autoresponder for one person: when each was written, or comes.
   * Shows where the person is in the series. For a person who is not in it the times are those of a series that begins now, or on the next day of a date trigger. Times of mail that comes are the earliest: a plan, a balance or an hourly cap may delay it. It also requires `subscribers:read`.
   *
   * Needs the permission `autoresponders:read`.
   *
   * `GET /autoresponders/{id}/walk/{subscriber_id}`
   */
  walkAutoresponder(input: { id: string; subscriber_id: string } & CallOptions): Call<Data<"walkAutoresponder">>;
  /**
   * Send a test of a step to a few addresses.
   * The mail is rendered as for a person in the series and marked as a test; it counts in the plan's allowance and in no figure of the autoresponder. `renderContent` shows a step without sending it.
   *
   * Needs the permission `autoresponders:send`.
   *
   * `POST /autoresponders/{id}/test`
   */
  testAutoresponder(input: { id: string; body: Body<"testAutoresponder"> } & CallOptions): Call<Data<"testAutoresponder">>;
  /**
   * Send one transactional email to one recipient.
   * Use it for receipts, password resets and other mail that one person has asked for. The answer comes after the message is stored safely; delivery follows in the background, and `GET /messages/{id}` or the events of webhooks tell what becomes of it. Send an `Idempotency-Key`, so that a repeated request sends nothing twice. Each accepted email counts in the plan's allowance.
   *
   * The body, or the file of the form, may have 30 MiB instead of 1 MiB.
   *
   * Needs the permission `emails:send`.
   *
   * `POST /emails/send`
   */
  sendEmail(input: { body: Body<"sendEmail">; query?: Query<"sendEmail"> } & CallOptions): Call<Data<"sendEmail">>;
  /**
   * Send one email to one or several recipients, now or later.
   * One email with to, cc and bcc, your own header fields, HTML and text or a template, files, tags and metadata. Each recipient gets a message of their own, with its own state, suppression check and place in the allowance; all messages show the same To and Cc, and have the same Message-ID. The email is accepted for all recipients or, with an error, for none. With `scheduled_at` it waits: recipients that are suppressed until then get nothing, and `POST /emails/{id}/cancel` calls it back. Send an `Idempotency-Key`, so that a repeated request sends nothing twice.
   *
   * The body, or the file of the form, may have 30 MiB instead of 1 MiB.
   *
   * It may take longer than a few seconds for a large mail.
   *
   * Needs the permission `emails:send`.
   *
   * `POST /emails`
   */
  createEmail(input: { body: Body<"createEmail"> } & CallOptions): Call<Data<"createEmail">>;
  /**
   * Send up to 500 emails in one request.
   * Each email is judged for itself, and the answer has a result for each: a wrong address, a sender that is not yours or a used-up allowance refuses that email and no other. All accepted emails are stored in one transaction, and the answer comes after it. The allowance goes to the emails in their order. With an `Idempotency-Key` a repeated request gets the same answer and sends nothing twice.
   *
   * The body, or the file of the form, may have 30 MiB instead of 1 MiB.
   *
   * It may take longer than a few seconds for a large mail.
   *
   * Needs the permission `emails:send`.
   *
   * `POST /emails/batch`
   */
  createEmailBatch(input: { body: Body<"createEmailBatch"> } & CallOptions): Call<Data<"createEmailBatch">>;
  /**
   * Cancel an email that waits, for all its recipients.
   * Messages that still wait end as `cancelled`; those that are being sent, or have ended, stay as they are. The price of a message is refunded if no mail server was asked to take it. 409 if none of them waits. `POST /messages/{id}/cancel` cancels the message of one recipient.
   *
   * Needs the permission `emails:send`.
   *
   * `POST /emails/{id}/cancel`
   */
  cancelEmail(input: { id: string } & CallOptions): Call<Data<"cancelEmail">>;
  /**
   * Try a waiting message now, without waiting for its next attempt.
   * The attempt counts like any other. 409 while a worker is sending the message, after it has ended, or while its campaign is paused.
   *
   * Needs the permission `messages:send`.
   *
   * `POST /messages/{id}/retry`
   */
  retryMessage(input: { id: string } & CallOptions): Call<Data<"retryMessage">>;
  /**
   * Cancel a waiting message, so that it is not sent any more.
   * The message ends as `cancelled`, and its price is refunded if no mail server was asked to take it. No webhook announces this. 409 while a worker is sending it, or after it has ended.
   *
   * Needs the permission `messages:send`.
   *
   * `POST /messages/{id}/cancel`
   */
  cancelMessage(input: { id: string } & CallOptions): Call<Data<"cancelMessage">>;
  /**
   * The content of a message as it was sent: HTML, text, headers, attachments.
   * `is_rebuilt` says whether the octets were stored or composed again by the code that sends. 410 after the days that the setting MESSAGE_CONTENT_DAYS keeps contents.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `message_content:read`.
   *
   * `GET /messages/{id}/content`
   */
  getMessageContent(input: { id: string } & CallOptions): Call<Data<"getMessageContent">>;
  /**
   * The source of a message as it was sent, a file that mail programs open.
   * A file in the format of RFC 5322 (.eml). 410 after the days that the setting MESSAGE_CONTENT_DAYS keeps contents.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `message_content:read`.
   *
   * `GET /messages/{id}/source`
   */
  downloadMessageSource(input: { id: string; query?: Query<"downloadMessageSource"> } & CallOptions): Call<Data<"downloadMessageSource">>;
  /**
   * Check an IP address or a domain against all blacklists now.
   * Asks every blacklist that this installation uses, within some seconds. Costs one check of the plan. Use a monitor to watch an address or a domain over time.
   *
   * It asks other servers, and may take longer than a few seconds.
   *
   * Needs the permission `blacklist:write`.
   *
   * `POST /blacklist/check`
   */
  checkBlacklists(input: { body: Body<"checkBlacklists"> } & CallOptions): Call<Data<"checkBlacklists">>;
  /**
   * The blacklists of this installation, what a listing costs, and how to get off each.
   * The catalogue that checks and monitors use, with the operator's changes; those with the greatest weight first. Use it to tell which of the zones in a result matters, and where to ask for removal.
   *
   * Needs the permission `blacklist:read`.
   *
   * `GET /blacklist/zones`
   */
  listBlacklistZones(input?: CallOptions): Call<Data<"listBlacklistZones">>;
  /**
   * List the monitors, newest first.
   * The monitors with the result of their last check.
   *
   * Needs the permission `blacklist:read`.
   *
   * `GET /blacklist/monitors`
   */
  listBlacklistMonitors(input?: CallOptions): Call<Data<"listBlacklistMonitors">>;
  /**
   * Create a monitor for an IP address or a domain, at most 1000 per workspace; it runs within a minute.
   * Watches an IP address or a domain. When a blacklist lists or delists it, mail is sent if notices are switched on, and `blacklist.listed` or `blacklist.delisted` to webhooks.
   *
   * Needs the permission `blacklist:write`.
   *
   * `POST /blacklist/monitors`
   */
  createBlacklistMonitor(input: { body: Body<"createBlacklistMonitor"> } & CallOptions): Call<Data<"createBlacklistMonitor">>;
  /**
   * Get a monitor.
   * The monitor with the result of its last check.
   *
   * Needs the permission `blacklist:read`.
   *
   * `GET /blacklist/monitors/{id}`
   */
  getBlacklistMonitor(input: { id: string } & CallOptions): Call<Data<"getBlacklistMonitor">>;
  /**
   * Change a monitor's frequency or notices, or pause or resume it.
   * A resumed monitor runs within a minute. The target cannot change: create another monitor instead.
   *
   * Needs the permission `blacklist:write`.
   *
   * `PATCH /blacklist/monitors/{id}`
   */
  updateBlacklistMonitor(input: { id: string; body: Body<"updateBlacklistMonitor"> } & CallOptions): Call<Data<"updateBlacklistMonitor">>;
  /**
   * Delete a monitor; its history is kept.
   * It runs no more. Its checks stay in `GET /blacklist/history`.
   *
   * Needs the permission `blacklist:write`.
   *
   * `DELETE /blacklist/monitors/{id}`
   */
  deleteBlacklistMonitor(input: { id: string } & CallOptions): Call<Data<"deleteBlacklistMonitor">>;
  /**
   * List the checks of the last 400 days, newest first.
   * Checks that were asked for and those of monitors, with the blacklists that listed the target.
   *
   * Needs the permission `blacklist:read`.
   *
   * `GET /blacklist/history`
   */
  listBlacklistHistory(input?: { query?: Query<"listBlacklistHistory"> } & CallOptions): Call<Data<"listBlacklistHistory">>;
  /**
   * Validate one address.
   * Checks syntax, domain and mailbox. The mailbox is checked by beginning an SMTP session with the domain's mail server, without sending a message. Costs one validation. An answer is kept for ten minutes, which a repeated call gets.
   *
   * It asks other servers, and may take longer than a few seconds.
   *
   * Needs the permission `validations:write`.
   *
   * `POST /validations`
   */
  validateEmail(input: { body: Body<"validateEmail"> } & CallOptions): Call<Data<"validateEmail">>;
  /**
   * Validate the addresses of a file in the background.
   * Starts a background job and answers 202 with its id. Follow it at `GET /jobs/{job_id}`; when it is completed, `GET /jobs/{job_id}/download` has the file with the results beside each address. An address that occurs twice costs once.
   *
   * The body, or the file of the form, may have 20 MiB instead of 1 MiB.
   *
   * Needs the permission `validations:write`.
   *
   * `POST /validations/bulk`
   */
  validateFile(input: { body: Body<"validateFile"> } & CallOptions): Call<Data<"validateFile">>;
  /**
   * List validated addresses, newest first.
   * The addresses that were validated by either call, with their results.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `validations:read`.
   *
   * `GET /validations/history`
   */
  listValidations(input?: { query?: Query<"listValidations"> } & CallOptions): Call<Data<"listValidations">>;
  /**
   * Get the usage of this hour and this month.
   * How many validations of the plan and of the hourly cap are used. Beyond the plan they are paid from the balance.
   *
   * Needs the permission `validations:read`.
   *
   * `GET /validations/usage`
   */
  getValidationUsage(input?: CallOptions): Call<Data<"getValidationUsage">>;
  /**
   * Count results by status, in total and by day.
   * How many addresses had which result, for a chart.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `validations:read`.
   *
   * `GET /validations/stats`
   */
  getValidationStats(input?: { query?: Query<"getValidationStats"> } & CallOptions): Call<Data<"getValidationStats">>;
  /**
   * Message log across all channels, newest first.
   * One row for each message of campaigns, autoresponders, API and SMTP. Combine the filters to find one; `searched_since` says how far back a search has looked. For long lists follow `pagination.next_cursor`.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `reports:read`.
   *
   * `GET /messages`
   */
  listMessages(input?: { query?: Query<"listMessages"> } & CallOptions): PagedCall<Data<"listMessages">, "messages">;
  /**
   * One message with the timeline of its attempts and the replies they got.
   * Everything that is known about one message: each attempt with the server's reply and the SMTP conversation line by line, opens, clicks and complaints. The log is kept as long as the installation's settings say.
   *
   * Needs the permission `reports:read`.
   *
   * `GET /messages/{id}`
   */
  getMessage(input: { id: string } & CallOptions): Call<Data<"getMessage">>;
  /**
   * One email of POST /emails, with the state of the message to each recipient.
   * An email with its tags and metadata, and the state of the message to each recipient. `GET /messages/{id}` has the timeline of each. 404 for the ids of other messages.
   *
   * Needs the permission `reports:read`.
   *
   * `GET /emails/{id}`
   */
  getEmail(input: { id: string } & CallOptions): Call<Data<"getEmail">>;
  /**
   * Outcomes of the messages with a tag, or with a value of metadata.
   * Counts the messages of POST /emails that have the tag, the metadata or both, by state. Up to 50,000 of the newest messages are counted; `counted_since` says where the count ended. `GET /messages` with the same parameters lists them.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `reports:read`.
   *
   * `GET /stats/labels`
   */
  getLabelStats(input?: { query?: Query<"getLabelStats"> } & CallOptions): Call<Data<"getLabelStats">>;
  /**
   * Bounces, newest first.
   * Every bounce with the server's reply and its category, of all time unless filters say otherwise. What filters find is counted up to 10,000; beyond that `pagination.total_is_exact` is false. For long lists follow `pagination.next_cursor`. Addresses of hard bounces are suppressed automatically.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `reports:read`.
   *
   * `GET /bounces`
   */
  listBounces(input?: { query?: Query<"listBounces"> } & CallOptions): PagedCall<Data<"listBounces">, "bounces">;
  /**
   * Download bounces as CSV, newest first; at most 100,000 rows.
   * Takes the filters of `listBounces`. Beyond the limit, choose a shorter time.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `reports:read`.
   *
   * `GET /bounces/export`
   */
  exportBounces(input?: { query?: Query<"exportBounces"> } & CallOptions): Call<Data<"exportBounces">>;
  /**
   * Complaints, newest first.
   * Every report of spam, of all time unless filters say otherwise. What filters find is counted up to 10,000; beyond that `pagination.total_is_exact` is false. People who complain get no more mail, automatically.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `reports:read`.
   *
   * `GET /complaints`
   */
  listComplaints(input?: { query?: Query<"listComplaints"> } & CallOptions): PagedCall<Data<"listComplaints">, "complaints">;
  /**
   * Download complaints as CSV, newest first; at most 100,000 rows.
   * Takes the filters of `listComplaints`. Beyond the limit, choose a shorter time.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `reports:read`.
   *
   * `GET /complaints/export`
   */
  exportComplaints(input?: { query?: Query<"exportComplaints"> } & CallOptions): Call<Data<"exportComplaints">>;
  /**
   * Bounces and complaints at a glance: totals, rates, trends, where they come from.
   * The figures for a page about bounces and complaints, in one call.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `reports:read`.
   *
   * `GET /bounces-complaints/dashboard`
   */
  getBouncesComplaints(input?: { query?: Query<"getBouncesComplaints"> } & CallOptions): Call<Data<"getBouncesComplaints">>;
  /**
   * Figures of this month, and the setup checklist.
   * The figures for a first page, in one call.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `reports:read`.
   *
   * `GET /dashboard`
   */
  getDashboard(input?: CallOptions): Call<Data<"getDashboard">>;
  /**
   * Daily delivery figures, every day present; the last 30 days by default.
   * Sums of every day in the workspace's time zone, also of days on which nothing was sent. The figures are counted as things happen, so the call is fast for any volume.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `reports:read`.
   *
   * `GET /stats/chart`
   */
  getSendingChart(input?: { query?: Query<"getSendingChart"> } & CallOptions): Call<Data<"getSendingChart">>;
  /**
   * Sending health: bounces and complaints of the last 30 days against their limits.
   * Mailbox providers block senders with many bounces or complaints. The answer says whether the workspace is near or beyond the usual limits.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `reports:read`.
   *
   * `GET /stats/health`
   */
  getSendingHealth(input?: CallOptions): Call<Data<"getSendingHealth">>;
  /**
   * Results of each campaign's messages, newest first.
   * For comparing campaigns. Deleted campaigns stay, with the name that they had.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `reports:read`.
   *
   * `GET /stats/campaigns`
   */
  listCampaignStats(input?: { query?: Query<"listCampaignStats"> } & CallOptions): PagedCall<Data<"listCampaignStats">, "stats">;
  /**
   * Results of each autoresponder's messages, newest first.
   * For comparing autoresponders. Deleted ones stay, with the name that they had.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `reports:read`.
   *
   * `GET /stats/autoresponders`
   */
  listAutoresponderStats(input?: { query?: Query<"listAutoresponderStats"> } & CallOptions): PagedCall<Data<"listAutoresponderStats">, "stats">;
  /**
   * Results of the messages that each API key sent by SMTP submission.
   * For comparing keys, and for finding the program that sends most. Deleted keys stay, under the name `Deleted key` if theirs is no longer known.
   *
   * Needs the permission `reports:read`.
   *
   * `GET /stats/smtp`
   */
  listSmtpStats(input?: { query?: Query<"listSmtpStats"> } & CallOptions): PagedCall<Data<"listSmtpStats">, "stats">;
  /**
   * Results of the messages that each API key sent over the API.
   * For comparing keys, and for finding the program that sends most. Deleted keys stay, under the name `Deleted key` if theirs is no longer known.
   *
   * Needs the permission `reports:read`.
   *
   * `GET /stats/api`
   */
  listApiStats(input?: { query?: Query<"listApiStats"> } & CallOptions): PagedCall<Data<"listApiStats">, "stats">;
  /**
   * What waits in the delivery queue and why, by lane, and how long delivery takes.
   * The messages of the workspace that are not delivered yet, grouped by the lane of their mail servers and by domain, with the last reply, the next attempt and the limits in force. Use it to find out why mail to a provider waits; `getMessage` has all attempts of one message.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `reports:read`.
   *
   * `GET /queue`
   */
  getQueue(input?: CallOptions): Call<Data<"getQueue">>;
  /**
   * Results by mailbox provider with a series by day, most messages first.
   * The results of the messages of the window at each mailbox provider. Domains are grouped by their MX, so that the business customers of a provider count as its own. `listRecipientDomains` with `provider` has the domains of one.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `reports:read`.
   *
   * `GET /deliverability/providers`
   */
  listMailboxProviders(input?: { query?: Query<"listMailboxProviders"> } & CallOptions): Call<Data<"listMailboxProviders">>;
  /**
   * Rates, reputation of sending addresses and domains, and bounces by cause.
   * How well mail arrives: rates of the window, a score for each address and domain that mail is sent from, bounces by cause, and Google's view if Postmaster Tools are connected.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `reports:read`.
   *
   * `GET /deliverability`
   */
  getDeliverability(input?: { query?: Query<"getDeliverability"> } & CallOptions): Call<Data<"getDeliverability">>;
  /**
   * Results by recipient domain, most messages first.
   * How the messages of the window fared at each recipient domain, with the sums in `total_row`.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `reports:read`.
   *
   * `GET /deliverability/recipient-domains`
   */
  listRecipientDomains(input?: { query?: Query<"listRecipientDomains"> } & CallOptions): PagedCall<Data<"listRecipientDomains">, "stats">;
  /**
   * List the background jobs that the caller can see, newest first.
   * Work that takes longer than a request: imports, exports, validations of files, bulk actions and erasures. A caller sees the jobs about what it may read (imports and exports with `subscribers:read`), or all jobs with `jobs:read`. Filter by what a job is about and who started it; for long lists follow `pagination.next_cursor`.
   *
   * Needs the permission `jobs:read`.
   *
   * `GET /jobs`
   */
  listJobs(input?: { query?: Query<"listJobs"> } & CallOptions): PagedCall<Data<"listJobs">, "jobs">;
  /**
   * Get a job and its progress.
   * Ask every few seconds, or listen to the event `job.completed`, until `status` is `completed`, `failed` or `cancelled`.
   *
   * Needs the permission `jobs:read`.
   *
   * `GET /jobs/{job_id}`
   */
  getJob(input: { job_id: string } & CallOptions): Call<Data<"getJob">>;
  /**
   * Download the result file of a job, available for seven days.
   * The file of a completed export or validation, or the report of a dry run. Answered 404 until it exists and after it has expired.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `jobs:read`.
   *
   * `GET /jobs/{job_id}/download`
   */
  downloadJobResult(input: { job_id: string; query?: Query<"downloadJobResult"> } & CallOptions): Call<Data<"downloadJobResult">>;
  /**
   * Download what a job refused, with the reasons; available for seven days.
   * A CSV file of what was refused. As a `list` it has one line for each error: Line, Column, Value, Reason; of a bulk action the ids of people with the reasons. As `rows` it has the rows that have errors, in the columns of the uploaded file and with the reasons in a last column `Import error`, which the values follow that a row has too many: correct it and upload it again, with the same mapping; only imports have it. Both are limited to 100,000 lines. Answered 404 if there are no errors.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `jobs:read`.
   *
   * `GET /jobs/{job_id}/errors`
   */
  downloadJobErrors(input: { job_id: string; query?: Query<"downloadJobErrors"> } & CallOptions): Call<Data<"downloadJobErrors">>;
  /**
   * Cancel a job: at once if it waits, within seconds if it runs.
   * What the job has written already stays. A job that has ended is refused (409).
   *
   * Needs the permission `jobs:write`.
   *
   * `POST /jobs/{job_id}/cancel`
   */
  cancelJob(input: { job_id: string } & CallOptions): Call<Data<"cancelJob">>;
  /**
   * List the webhooks, newest first.
   * The webhooks of the workspace, without their secrets. `disabled_reason` tells why the service has switched one off.
   *
   * Needs the permission `webhooks:read`.
   *
   * `GET /webhooks`
   */
  listWebhooks(input?: CallOptions): Call<Data<"listWebhooks">>;
  /**
   * Create a webhook; its secret is shown only in this answer.
   * From now on the events are POSTed to the address, signed as Standard Webhooks define. Check signatures with the `secret` of the answer. A workspace has at most 20 webhooks. The section Events of this document has the payloads.
   *
   * Needs the permission `webhooks:write`.
   *
   * `POST /webhooks`
   */
  createWebhook(input: { body: Body<"createWebhook"> } & CallOptions): Call<Data<"createWebhook">>;
  /**
   * Get a webhook.
   * The webhook without its secret.
   *
   * Needs the permission `webhooks:read`.
   *
   * `GET /webhooks/{id}`
   */
  getWebhook(input: { id: string } & CallOptions): Call<Data<"getWebhook">>;
  /**
   * Change a webhook, or switch it on or off; omitted fields stay unchanged.
   * Switching it on also clears `disabled_reason` and the count of failures, and waiting deliveries are sent.
   *
   * Needs the permission `webhooks:write`.
   *
   * `PATCH /webhooks/{id}`
   */
  updateWebhook(input: { id: string; body: Body<"updateWebhook"> } & CallOptions): Call<Data<"updateWebhook">>;
  /**
   * Delete a webhook with all of its deliveries.
   * Nothing more is sent, waiting deliveries included.
   *
   * Needs the permission `webhooks:write`.
   *
   * `DELETE /webhooks/{id}`
   */
  deleteWebhook(input: { id: string } & CallOptions): Call<Data<"deleteWebhook">>;
  /**
   * Rotate the secret of a webhook; for 24 hours the old one signs, too.
   * The answer has the new secret. Both secrets sign for 24 hours, so that receivers can be changed without a gap.
   *
   * Needs the permission `webhooks:write`.
   *
   * `POST /webhooks/{id}/rotate-secret`
   */
  rotateWebhookSecret(input: { id: string } & CallOptions): Call<Data<"rotateWebhookSecret">>;
  /**
   * Send a webhook.test event to a webhook, at most ten times a minute.
   * Use it to try a receiver; `GET /webhooks/{id}/deliveries` shows the answer that it gave.
   *
   * It asks other servers, and may take longer than a few seconds.
   *
   * Needs the permission `webhooks:write`.
   *
   * `POST /webhooks/{id}/test`
   */
  testWebhook(input: { id: string } & CallOptions): Call<Data<"testWebhook">>;
  /**
   * List the deliveries of a webhook, newest first, up to 10,000.
   * The deliveries of the last 14 days with the body, the number of attempts and the last error. Use it to find out what a receiver has missed; `getWebhookDelivery` has what it answered.
   *
   * Needs the permission `webhooks:read`.
   *
   * `GET /webhooks/{id}/deliveries`
   */
  listWebhookDeliveries(input: { id: string; query?: Query<"listWebhookDeliveries"> } & CallOptions): PagedCall<Data<"listWebhookDeliveries">, "deliveries">;
  /**
   * One delivery, with what the receiver answered last.
   * The body that was sent, and the type and the first 16 KiB of the body that the receiver answered, 1 KiB of an answer 2xx. Use it to find out why a receiver refuses events.
   *
   * Needs the permission `webhooks:read`.
   *
   * `GET /webhooks/{id}/deliveries/{delivery_id}`
   */
  getWebhookDelivery(input: { id: string; delivery_id: string } & CallOptions): Call<Data<"getWebhookDelivery">>;
  /**
   * Deliver all failed deliveries again, or those of an event or a time.
   * Use it after a receiver was repaired. It queues the 1,000 oldest at most, with the same `webhook-id` and all retries; call it again while `has_more` is true. Deliveries that were delivered, or are still retried, stay as they are.
   *
   * Needs the permission `webhooks:write`.
   *
   * `POST /webhooks/{id}/deliveries/replay`
   */
  replayFailedDeliveries(input: { id: string; body?: Body<"replayFailedDeliveries"> } & CallOptions): Call<Data<"replayFailedDeliveries">>;
  /**
   * Deliver again now, with the same webhook-id and all retries.
   * Use it after a receiver was repaired. Receivers recognise an event that they have already by its `webhook-id`.
   *
   * Needs the permission `webhooks:write`.
   *
   * `POST /webhooks/{id}/deliveries/{delivery_id}/replay`
   */
  replayWebhookDelivery(input: { id: string; delivery_id: string } & CallOptions): Call<Data<"replayWebhookDelivery">>;
  /**
   * Live states of campaigns, jobs, messages, domains and notices, as server-sent events.
   * Each event carries the whole state of its topic, at most once a second. After a lost connection, `Last-Event-ID` continues without a gap. Each topic needs the permission to read its resource. A key or session may have three streams.
   *
   * Any valid key, and any member of the workspace, may call this.
   *
   * `GET /events`
   */
  streamEvents(input: { query: Query<"streamEvents"> } & CallOptions): Call<Data<"streamEvents">>;
  /**
   * What needs attention in this workspace.
   * Paused campaigns, broken DNS records, complaints, blacklists, webhooks, allowances, the balance, failed jobs, and campaigns that wait for approval. A notice ends with its cause. Only notices about what the caller may read are shown; requests for approval only to callers with `campaigns:send`. The topic `notices` of `GET /events` says when the list changes.
   *
   * Any valid key, and any member of the workspace, may call this.
   *
   * `GET /notices`
   */
  listNotices(input?: { query?: Query<"listNotices"> } & CallOptions): Call<Data<"listNotices">>;
  /**
   * Dismiss a notice for everyone in the workspace.
   * The notice is hidden while its cause lasts, and keeps who dismissed it and when. If the cause begins again, there is a new notice. Dismissing it again changes nothing. Answers 404 when the cause has ended.
   *
   * Needs the permission `notices:write`.
   *
   * `POST /notices/{id}/dismiss`
   */
  dismissNotice(input: { id: string } & CallOptions): Call<Data<"dismissNotice">>;
  /**
   * Show a dismissed notice again.
   * Undoes `POST /notices/{id}/dismiss`. A notice that is not dismissed stays as it is.
   *
   * Needs the permission `notices:write`.
   *
   * `POST /notices/{id}/restore`
   */
  restoreNotice(input: { id: string } & CallOptions): Call<Data<"restoreNotice">>;
  /**
   * Search people, messages, campaigns and 7 other kinds of resources by name, address or id.
   * At most five results of each kind, exact matches first. Only kinds that the caller may read are searched. Kinds that took too long are listed in `incomplete`.
   *
   * Any valid key, and any member of the workspace, may call this.
   *
   * `GET /search`
   */
  searchEverything(input: { query: Query<"searchEverything"> } & CallOptions): Call<Data<"searchEverything">>;
  /**
   * What a person did, and what happened to the mail for them, newest first.
   * Joining, leaving, changes, and the outcome of each message to the address, with SMTP replies and links. Opens and clicks of programs are marked. Filter by `kinds`, and continue with `next_cursor`. Outcomes of messages need `reports:read`, and changes `audit:read`: without `kinds` they are left out, and with such a kind the answer is 403.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `subscribers:read`.
   *
   * `GET /subscribers/{id}/activities`
   */
  listSubscriberActivities(input: { id: string; query?: Query<"listSubscriberActivities"> } & CallOptions): PagedCall<Data<"listSubscriberActivities">, "data">;
  /**
   * Download everything that is stored about one person, as JSON.
   * For requests of access by a person: fields, lists, suppressions and activities in one file. Each part needs the permission of its noun (`suppression_lists:read`, `mailing_lists:read`, `validations:read`, `received_emails:read`, `reports:read`, and `audit:read` for changes); `left_out` names the parts that the caller may not read. `is_complete` is false if a part is left out, or if there are more messages than the newest 5,000.
   *
   * It may take longer than a few seconds if there is much data.
   *
   * Needs the permission `subscribers:read`.
   *
   * `GET /subscribers/{id}/export`
   */
  exportSubscriberData(input: { id: string; query?: Query<"exportSubscriberData"> } & CallOptions): Call<Data<"exportSubscriberData">>;
  /**
   * Erase the personal data of one person, in the background; counts and messages stay without it.
   * Suppresses the address unless `suppress` is false, cancels waiting mail, erases the message log of the address and deletes the person. Counters and outcomes stay without personal data. The result of the job says what was erased and what was kept. While a job with the same `suppress` erases the person, the answer names that job and starts no other.
   *
   * Needs the permission `subscribers:write`.
   *
   * `POST /subscribers/{id}/erase`
   */
  eraseSubscriber(input: { id: string; body?: Body<"eraseSubscriber"> } & CallOptions): Call<Data<"eraseSubscriber">>;
  /**
   * Saved views of the caller, and those shared in the workspace, by name.
   * A view is a page of a client with its filters, saved under a name. `page_name` leaves only the views of one page.
   *
   * Any valid key, and any member of the workspace, may call this.
   *
   * `GET /views`
   */
  listViews(input?: { query?: Query<"listViews"> } & CallOptions): PagedCall<Data<"listViews">, "views">;
  /**
   * Save a view, for oneself or for everyone in the workspace.
   * Every caller may save views; `is_shared` shows one to everyone in the workspace. A person or API key has at most 100 views of its own and 50 shared ones, a workspace 200 shared ones. The service does not read `state`.
   *
   * Any valid key, and any member of the workspace, may call this.
   *
   * `POST /views`
   */
  createView(input: { body: Body<"createView"> } & CallOptions): Call<Data<"createView">>;
  /**
   * Change name, state or sharing of a view.
   * One's own views, and with `team:write` those that others share; only the owner can stop sharing one. Omitted fields stay as they are.
   *
   * Any valid key, and any member of the workspace, may call this.
   *
   * `PATCH /views/{id}`
   */
  updateView(input: { id: string; body: Body<"updateView"> } & CallOptions): Call<Data<"updateView">>;
  /**
   * Delete a view.
   * One's own views, and with `team:write` those that others share. A shared view is deleted for everyone.
   *
   * Any valid key, and any member of the workspace, may call this.
   *
   * `DELETE /views/{id}`
   */
  deleteView(input: { id: string } & CallOptions): Call<Data<"deleteView">>;
  /**
   * Share links that have not ended, newest first.
   * Who made each link, what it shows, until when, and how often it was opened. Addresses and passwords are not shown.
   *
   * Needs the permission `share_links:read`.
   *
   * `GET /share-links`
   */
  listShareLinks(input?: { query?: Query<"listShareLinks"> } & CallOptions): PagedCall<Data<"listShareLinks">, "links">;
  /**
   * Make a link that shows a report or DNS records to people without an account.
   * The page at `url` shows the figures and links of a campaign without its recipients, or the records of a sending domain, expected and found, as they are when it is opened. It needs the permission to read them, too. The link ends at `expires_at`, when it is revoked, or when the campaign or domain is deleted. A workspace has at most 500 links.
   *
   * Needs the permission `share_links:write`.
   *
   * `POST /share-links`
   */
  createShareLink(input: { body: Body<"createShareLink"> } & CallOptions): Call<Data<"createShareLink">>;
  /**
   * Revoke a share link.
   * Its page stops working at once. The audit log keeps who made and who revoked it.
   *
   * Needs the permission `share_links:write`.
   *
   * `DELETE /share-links/{id}`
   */
  revokeShareLink(input: { id: string } & CallOptions): Call<Data<"revokeShareLink">>;
}

/** Method, path and what is particular: `key`: honours Idempotency-Key; `file`: answers a file; `(…)`: the file in a form; `[…]`: the rows of a page. */
export const operationTable = {
  getSignInOptions: "GET /sign-in/options",
  signIn: "POST /sign-in",
  confirmSecondFactor: "POST /sign-in/second-factor",
  startPasskeySignIn: "POST /sign-in/passkey/challenge",
  signInWithPasskey: "POST /sign-in/passkey",
  getSession: "GET /session",
  signOut: "DELETE /session",
  startConfirmation: "POST /session/confirmation/challenge",
  reauthenticate: "POST /session/confirmation",
  listSessions: "GET /sessions",
  revokeSessions: "DELETE /sessions",
  revokeSession: "DELETE /sessions/{id}",
  startSingleSignOn: "POST /sign-in/single-sign-on",
  getSecondFactorChallenge: "POST /sign-in/second-factor/challenge",
  requestPasswordReset: "POST /password-resets",
  resetPassword: "POST /password-resets/complete",
  createFirstOwner: "POST /first-owner",
  getMe: "GET /me",
  updateMe: "PATCH /me",
  changePassword: "PUT /me/password",
  changeEmail: "POST /me/email",
  confirmEmailChange: "POST /email-changes/confirm",
  listSecondFactors: "GET /me/second-factors",
  startAuthenticatorApp: "POST /me/authenticator-apps/setup",
  confirmAuthenticatorApp: "POST /me/authenticator-apps",
  startPasskey: "POST /me/passkeys/setup",
  addPasskey: "POST /me/passkeys",
  renameSecondFactor: "PATCH /me/second-factors/{id}",
  removeSecondFactor: "DELETE /me/second-factors/{id}",
  createRecoveryCodes: "POST /me/recovery-codes",
  listApiKeys: "GET /api-keys",
  createApiKey: "POST /api-keys",
  listPermissions: "GET /api-keys/permissions",
  getApiKey: "GET /api-keys/{id}",
  updateApiKey: "PUT /api-keys/{id}",
  deactivateApiKey: "DELETE /api-keys/{id}",
  regenerateApiKey: "POST /api-keys/{id}/regenerate",
  reactivateApiKey: "POST /api-keys/{id}/reactivate",
  deleteApiKey: "DELETE /api-keys/{id}/permanent",
  listApiRequests: "GET /api-keys/requests [data]",
  listTeammates: "GET /team",
  getTeammate: "GET /team/{id}",
  updateTeammate: "PATCH /team/{id}",
  removeTeammate: "DELETE /team/{id}",
  leaveWorkspace: "POST /workspaces/{id}/leave",
  listInvitations: "GET /team/invitations",
  inviteTeammate: "POST /team/invitations",
  resendInvitation: "POST /team/invitations/{id}/resend",
  revokeInvitation: "DELETE /team/invitations/{id}",
  previewInvitation: "POST /invitations/preview",
  acceptInvitation: "POST /invitations/accept",
  listRoles: "GET /roles",
  createRole: "POST /roles",
  getRole: "GET /roles/{id}",
  updateRole: "PATCH /roles/{id}",
  deleteRole: "DELETE /roles/{id}",
  getBillingOverview: "GET /billing/overview",
  getBillingUsage: "GET /billing/usage",
  getSubscription: "GET /billing/subscription",
  subscribe: "POST /billing/subscription key",
  listPlans: "GET /billing/plans",
  cancelSubscription: "POST /billing/subscription/cancel",
  listTransactions: "GET /billing/transactions [transactions]",
  exportTransactions: "GET /billing/transactions/export file",
  listUsageDays: "GET /billing/usage/days",
  getBillingStatement: "GET /billing/statement",
  exportBillingStatement: "GET /billing/statement/export file",
  listWorkspaces: "GET /workspaces",
  createWorkspace: "POST /workspaces",
  getWorkspace: "GET /workspace",
  updateWorkspace: "PATCH /workspace",
  getBrand: "GET /brand",
  updateBrand: "PATCH /brand",
  listTexts: "GET /texts",
  updateTexts: "PATCH /texts",
  listOperatedWorkspaces: "GET /operator/workspaces [workspaces]",
  getOperatedWorkspace: "GET /operator/workspaces/{id}",
  updateOperatedWorkspace: "PATCH /operator/workspaces/{id}",
  suspendWorkspace: "POST /operator/workspaces/{id}/suspend",
  resumeWorkspace: "POST /operator/workspaces/{id}/resume",
  creditWorkspace: "POST /operator/workspaces/{id}/credits",
  listInstallationUsers: "GET /operator/users [users]",
  getInstallationUser: "GET /operator/users/{id}",
  updateInstallationUser: "PATCH /operator/users/{id}",
  listAuditEvents: "GET /audit-events [data]",
  exportAuditEvents: "GET /audit-events/export file",
  listInstallationAuditEvents: "GET /operator/audit-events [data]",
  createTopUp: "POST /billing/top-up key",
  listMailingLists: "GET /mailing-lists",
  createMailingList: "POST /mailing-lists",
  getMailingListStats: "GET /mailing-lists/stats",
  getMailingList: "GET /mailing-lists/{id}",
  updateMailingList: "PUT /mailing-lists/{id}",
  deleteMailingList: "DELETE /mailing-lists/{id}",
  getSignupForm: "GET /mailing-lists/{id}/signup-form",
  updateSignupForm: "PUT /mailing-lists/{id}/signup-form",
  listMembers: "GET /mailing-lists/{id}/subscribers [subscribers]",
  addMember: "POST /mailing-lists/{id}/subscribers",
  removeAllMembers: "DELETE /mailing-lists/{id}/subscribers/all",
  updateMember: "PUT /mailing-lists/{id}/subscribers/{subscriber_id}",
  removeMember: "DELETE /mailing-lists/{id}/subscribers/{subscriber_id}",
  setMemberStatus: "PUT /mailing-lists/{id}/subscribers/{subscriber_id}/status",
  listSubscribers: "GET /subscribers [subscribers]",
  getSubscriber: "GET /subscribers/{id}",
  inspectImportFile: "POST /mailing-lists/{id}/subscribers/inspect-import-file (csvFile)",
  importSubscribers: "POST /mailing-lists/{id}/subscribers/import-async (csvFile)",
  exportSubscribers: "POST /mailing-lists/{id}/subscribers/export-async",
  runBulkAction: "POST /subscribers/bulk key",
  listCustomFields: "GET /mailing-lists/{id}/custom-fields",
  createCustomField: "POST /mailing-lists/{id}/custom-fields",
  updateCustomField: "PUT /mailing-lists/{id}/custom-fields/{field_id}",
  deleteCustomField: "DELETE /mailing-lists/{id}/custom-fields/{field_id}",
  listGlobalCustomFields: "GET /custom-fields/global",
  createGlobalCustomField: "POST /custom-fields/global",
  updateGlobalCustomField: "PUT /custom-fields/global/{field_id}",
  deleteGlobalCustomField: "DELETE /custom-fields/global/{field_id}",
  listSegments: "GET /segments [segments]",
  listSegmentFields: "GET /segments/fields",
  listSegmentsOfList: "GET /mailing-lists/{id}/segments [segments]",
  createSegment: "POST /mailing-lists/{id}/segments",
  previewSegment: "POST /mailing-lists/{id}/segments/preview",
  getSegment: "GET /mailing-lists/{id}/segments/{segment_id}",
  updateSegment: "PUT /mailing-lists/{id}/segments/{segment_id}",
  deleteSegment: "DELETE /mailing-lists/{id}/segments/{segment_id}",
  listSegmentMembers: "GET /mailing-lists/{id}/segments/{segment_id}/subscribers [subscribers]",
  listSegmentsOfSubscriber: "GET /subscribers/{id}/segments",
  listSuppressionLists: "GET /suppression-lists",
  createSuppressionList: "POST /suppression-lists",
  getSuppressionList: "GET /suppression-lists/{id}",
  updateSuppressionList: "PUT /suppression-lists/{id}",
  deleteSuppressionList: "DELETE /suppression-lists/{id}",
  listSuppressionEntries: "GET /suppression-lists/{id}/entries [data]",
  addSuppressionEntries: "POST /suppression-lists/{id}/entries",
  importSuppressionEntries: "POST /suppression-lists/{id}/import (csvFile)",
  deleteSuppressionEntry: "DELETE /suppression-lists/{id}/entries/{entry_id}",
  findSuppressions: "POST /suppressions/find",
  testSuppression: "POST /suppression-lists/{id}/test",
  listSendingDomains: "GET /sending-domains",
  createSendingDomain: "POST /sending-domains",
  deleteSendingDomain: "DELETE /sending-domains/{id}",
  getSendingDomainDnsStatus: "GET /sending-domains/{id}/dns-status",
  verifySendingDomain: "POST /sending-domains/{id}/verify",
  setCustomReturnPath: "PATCH /sending-domains/{id}/custom-return-path",
  setDmarcIngestion: "PATCH /sending-domains/{id}/dmarc-ingestion",
  listVerifiedSenders: "GET /verified-senders",
  createVerifiedSender: "POST /verified-senders",
  resendVerifiedSenderLink: "POST /verified-senders/{id}/resend",
  deleteVerifiedSender: "DELETE /verified-senders/{id}",
  listDkimKeys: "GET /dkims",
  createDkimKey: "POST /dkims",
  verifyDkimKeyDns: "POST /dkims/{id}/verify-dns",
  deleteDkimKey: "DELETE /dkims/{id}",
  listTrackingDomains: "GET /tracking-domains",
  createTrackingDomain: "POST /tracking-domains",
  getTrackingDomain: "GET /tracking-domains/{id}",
  updateTrackingDomain: "PUT /tracking-domains/{id}",
  deleteTrackingDomain: "DELETE /tracking-domains/{id}",
  verifyTrackingDomain: "POST /tracking-domains/{id}/verify",
  listSendingIps: "GET /sending-ips",
  createSendingIp: "POST /sending-ips",
  listWarmUpHistory: "GET /sending-ips/{id}/warm-up-history [days]",
  getSendingIp: "GET /sending-ips/{id}",
  updateSendingIp: "PATCH /sending-ips/{id}",
  deleteSendingIp: "DELETE /sending-ips/{id}",
  listRoutingRules: "GET /routing-rules",
  createRoutingRule: "POST /routing-rules",
  getRoutingRule: "GET /routing-rules/{id}",
  updateRoutingRule: "PATCH /routing-rules/{id}",
  deleteRoutingRule: "DELETE /routing-rules/{id}",
  testRouting: "POST /routing-rules/test",
  listDmarcReports: "GET /sending-domains/{id}/dmarc-reports [reports]",
  listTlsReports: "GET /sending-domains/{id}/tls-reports [reports]",
  listInboundRoutes: "GET /inbound-routes [inbound_routes]",
  createInboundRoute: "POST /inbound-routes",
  getInboundRoute: "GET /inbound-routes/{id}",
  updateInboundRoute: "PATCH /inbound-routes/{id}",
  deleteInboundRoute: "DELETE /inbound-routes/{id}",
  listReceivedEmails: "GET /received-emails [received_emails]",
  getReceivedEmail: "GET /received-emails/{id}",
  deleteReceivedEmail: "DELETE /received-emails/{id}",
  downloadReceivedAttachment: "GET /received-emails/{id}/attachments/{attachment_id} file",
  downloadReceivedSource: "GET /received-emails/{id}/source file",
  getDmarcReport: "GET /sending-domains/{id}/dmarc-reports/{report_id}",
  listDmarcRecords: "GET /sending-domains/{id}/dmarc-reports/{report_id}/records [records]",
  downloadDmarcReport: "GET /sending-domains/{id}/dmarc-reports/{report_id}/xml file",
  getSmtpSettings: "GET /smtp-settings",
  listTemplates: "GET /templates [templates]",
  createTemplate: "POST /templates key",
  listTemplateStarters: "GET /templates/starters",
  getTemplate: "GET /templates/{id}",
  updateTemplate: "PATCH /templates/{id}",
  deleteTemplate: "DELETE /templates/{id}",
  duplicateTemplate: "POST /templates/{id}/duplicate",
  listTemplateVersions: "GET /templates/{id}/versions [versions]",
  getTemplateVersion: "GET /templates/{id}/versions/{version_id}",
  restoreTemplateVersion: "POST /templates/{id}/versions/{version_id}/restore",
  testTemplate: "POST /templates/{id}/test",
  listCampaigns: "GET /campaigns [campaigns]",
  createCampaign: "POST /campaigns key",
  getCampaign: "GET /campaigns/{id}",
  updateCampaign: "PATCH /campaigns/{id}",
  replaceCampaign: "PUT /campaigns/{id}",
  deleteCampaign: "DELETE /campaigns/{id}",
  sendCampaign: "POST /campaigns/{id}/send key",
  requestApproval: "POST /campaigns/{id}/request-approval key",
  pauseCampaign: "POST /campaigns/{id}/pause",
  resumeCampaign: "POST /campaigns/{id}/resume",
  cancelCampaign: "POST /campaigns/{id}/cancel",
  unscheduleCampaign: "POST /campaigns/{id}/unschedule",
  duplicateCampaign: "POST /campaigns/{id}/duplicate",
  testCampaign: "POST /campaigns/{id}/test",
  getCampaignActivity: "GET /campaigns/{id}/activity",
  getCampaignDomainStats: "GET /campaigns/{id}/smtp-domain-stats [stats]",
  listCampaignMessages: "GET /campaigns/{id}/messages [messages]",
  listCampaignActivities: "GET /campaigns/{id}/recent-activity [activities]",
  listCampaignLinks: "GET /campaigns/{id}/links",
  updateCampaignLink: "PATCH /campaigns/{id}/links",
  getCampaignLinkActivity: "GET /campaigns/{id}/links/activity",
  getCampaignClients: "GET /campaigns/{id}/clients",
  exportCampaignRecipients: "POST /campaigns/{id}/messages/export-async",
  createSegmentFromCampaign: "POST /campaigns/{id}/segments",
  renderContent: "POST /render",
  listMergeTags: "GET /merge-tags",
  listMedia: "GET /media [media]",
  uploadMedia: "POST /media (file)",
  getMedia: "GET /media/{id}",
  updateMedia: "PATCH /media/{id}",
  deleteMedia: "DELETE /media/{id}",
  checkCampaign: "POST /campaigns/{id}/check",
  checkContent: "POST /check",
  getCampaignProgress: "GET /campaigns/{id}/progress",
  listAutoresponders: "GET /autoresponders [autoresponders]",
  createAutoresponder: "POST /autoresponders key",
  getAutoresponder: "GET /autoresponders/{id}",
  replaceAutoresponder: "PUT /autoresponders/{id}",
  deleteAutoresponder: "DELETE /autoresponders/{id}",
  activateAutoresponder: "POST /autoresponders/{id}/activate",
  deactivateAutoresponder: "POST /autoresponders/{id}/deactivate",
  listAutoresponderSteps: "GET /autoresponders/{id}/steps",
  listWaitingPeople: "GET /autoresponders/{id}/waiting [people]",
  walkAutoresponder: "GET /autoresponders/{id}/walk/{subscriber_id}",
  testAutoresponder: "POST /autoresponders/{id}/test",
  sendEmail: "POST /emails/send key",
  createEmail: "POST /emails key",
  createEmailBatch: "POST /emails/batch key",
  cancelEmail: "POST /emails/{id}/cancel",
  retryMessage: "POST /messages/{id}/retry",
  cancelMessage: "POST /messages/{id}/cancel",
  getMessageContent: "GET /messages/{id}/content",
  downloadMessageSource: "GET /messages/{id}/source file",
  checkBlacklists: "POST /blacklist/check",
  listBlacklistZones: "GET /blacklist/zones",
  listBlacklistMonitors: "GET /blacklist/monitors",
  createBlacklistMonitor: "POST /blacklist/monitors",
  getBlacklistMonitor: "GET /blacklist/monitors/{id}",
  updateBlacklistMonitor: "PATCH /blacklist/monitors/{id}",
  deleteBlacklistMonitor: "DELETE /blacklist/monitors/{id}",
  listBlacklistHistory: "GET /blacklist/history",
  validateEmail: "POST /validations key",
  validateFile: "POST /validations/bulk (file)",
  listValidations: "GET /validations/history",
  getValidationUsage: "GET /validations/usage",
  getValidationStats: "GET /validations/stats",
  listMessages: "GET /messages [messages]",
  getMessage: "GET /messages/{id}",
  getEmail: "GET /emails/{id}",
  getLabelStats: "GET /stats/labels",
  listBounces: "GET /bounces [bounces]",
  exportBounces: "GET /bounces/export file",
  listComplaints: "GET /complaints [complaints]",
  exportComplaints: "GET /complaints/export file",
  getBouncesComplaints: "GET /bounces-complaints/dashboard",
  getDashboard: "GET /dashboard",
  getSendingChart: "GET /stats/chart",
  getSendingHealth: "GET /stats/health",
  listCampaignStats: "GET /stats/campaigns [stats]",
  listAutoresponderStats: "GET /stats/autoresponders [stats]",
  listSmtpStats: "GET /stats/smtp [stats]",
  listApiStats: "GET /stats/api [stats]",
  getQueue: "GET /queue",
  listMailboxProviders: "GET /deliverability/providers",
  getDeliverability: "GET /deliverability",
  listRecipientDomains: "GET /deliverability/recipient-domains [stats]",
  listJobs: "GET /jobs [jobs]",
  getJob: "GET /jobs/{job_id}",
  downloadJobResult: "GET /jobs/{job_id}/download file",
  downloadJobErrors: "GET /jobs/{job_id}/errors file",
  cancelJob: "POST /jobs/{job_id}/cancel",
  listWebhooks: "GET /webhooks",
  createWebhook: "POST /webhooks",
  getWebhook: "GET /webhooks/{id}",
  updateWebhook: "PATCH /webhooks/{id}",
  deleteWebhook: "DELETE /webhooks/{id}",
  rotateWebhookSecret: "POST /webhooks/{id}/rotate-secret",
  testWebhook: "POST /webhooks/{id}/test",
  listWebhookDeliveries: "GET /webhooks/{id}/deliveries [deliveries]",
  getWebhookDelivery: "GET /webhooks/{id}/deliveries/{delivery_id}",
  replayFailedDeliveries: "POST /webhooks/{id}/deliveries/replay",
  replayWebhookDelivery: "POST /webhooks/{id}/deliveries/{delivery_id}/replay",
  streamEvents: "GET /events file",
  listNotices: "GET /notices",
  dismissNotice: "POST /notices/{id}/dismiss",
  restoreNotice: "POST /notices/{id}/restore",
  searchEverything: "GET /search",
  listSubscriberActivities: "GET /subscribers/{id}/activities [data]",
  exportSubscriberData: "GET /subscribers/{id}/export",
  eraseSubscriber: "POST /subscribers/{id}/erase key",
  listViews: "GET /views [views]",
  createView: "POST /views",
  updateView: "PATCH /views/{id}",
  deleteView: "DELETE /views/{id}",
  listShareLinks: "GET /share-links [links]",
  createShareLink: "POST /share-links",
  revokeShareLink: "DELETE /share-links/{id}",
} as const;
