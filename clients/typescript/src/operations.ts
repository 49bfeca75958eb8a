/** Generated from openapi.json by `npm run generate`; do not edit. */
import type { Call, PagedCall } from "./call.ts";
import type { Body, CallOptions, Data, Query } from "./shapes.ts";

/** A method for each operation of the API. */
export interface Operations {
  /**
   * API keys of the workspace, newest first.
   * Needs the permission `api_keys:read`.
   *
   * `GET /api-keys`
   */
  listApiKeys(input?: { query?: Query<"listApiKeys"> } & CallOptions): Call<Data<"listApiKeys">>;
  /**
   * Create an API key; only this answer has the secret.
   * Needs the permission `api_keys:write`.
   *
   * `POST /api-keys`
   */
  createApiKey(input: { body: Body<"createApiKey"> } & CallOptions): Call<Data<"createApiKey">>;
  /**
   * Permission catalogue: every value a key can hold.
   * Any valid key, and any member of the workspace, may call this.
   *
   * `GET /api-keys/permissions`
   */
  listPermissions(input?: CallOptions): Call<Data<"listPermissions">>;
  /**
   * One API key, active or not.
   * Needs the permission `api_keys:read`.
   *
   * `GET /api-keys/{id}`
   */
  getApiKey(input: { id: string } & CallOptions): Call<Data<"getApiKey">>;
  /**
   * Change name, permissions or expiry; omitted fields stay.
   * Needs the permission `api_keys:write`.
   *
   * `PUT /api-keys/{id}`
   */
  updateApiKey(input: { id: string; body: Body<"updateApiKey"> } & CallOptions): Call<Data<"updateApiKey">>;
  /**
   * Deactivate a key; it can be reactivated.
   * Needs the permission `api_keys:write`.
   *
   * `DELETE /api-keys/{id}`
   */
  deactivateApiKey(input: { id: string } & CallOptions): Call<Data<"deactivateApiKey">>;
  /**
   * Give an active key a new secret; the old one stops working at once.
   * Needs the permission `api_keys:write`.
   *
   * `POST /api-keys/{id}/regenerate`
   */
  regenerateApiKey(input: { id: string } & CallOptions): Call<Data<"regenerateApiKey">>;
  /**
   * Reactivate a key, with its old secret.
   * Needs the permission `api_keys:write`.
   *
   * `POST /api-keys/{id}/reactivate`
   */
  reactivateApiKey(input: { id: string } & CallOptions): Call<Data<"reactivateApiKey">>;
  /**
   * Delete a key permanently, active or not.
   * Needs the permission `api_keys:write`.
   *
   * `DELETE /api-keys/{id}/permanent`
   */
  deleteApiKey(input: { id: string } & CallOptions): Call<Data<"deleteApiKey">>;
  /**
   * Balance, plan, remaining emails of the month, and storage used.
   * Needs the permission `billing:read`.
   *
   * `GET /billing/overview`
   */
  getBillingOverview(input?: CallOptions): Call<Data<"getBillingOverview">>;
  /**
   * Spending of this month, and the newest charges.
   * Needs the permission `billing:read`.
   *
   * `GET /billing/usage`
   */
  getBillingUsage(input?: CallOptions): Call<Data<"getBillingUsage">>;
  /**
   * The subscription; null on pay as you go.
   * Needs the permission `billing:read`.
   *
   * `GET /billing/subscription`
   */
  getSubscription(input?: CallOptions): Call<Data<"getSubscription">>;
  /**
   * Subscribe, or change plan or interval; applies at once, and the price difference is taken from the balance.
   * Needs the permission `billing:write`.
   *
   * `POST /billing/subscription`
   */
  subscribe(input: { body: Body<"subscribe"> } & CallOptions): Call<Data<"subscribe">>;
  /**
   * Plans that can be subscribed to.
   * Needs the permission `billing:read`.
   *
   * `GET /billing/plans`
   */
  listPlans(input?: CallOptions): Call<Data<"listPlans">>;
  /**
   * Cancel the subscription at the end of its current period.
   * Needs the permission `billing:write`.
   *
   * `POST /billing/subscription/cancel`
   */
  cancelSubscription(input?: CallOptions): Call<Data<"cancelSubscription">>;
  /**
   * The ledger, newest first.
   * Needs the permission `billing:read`.
   *
   * `GET /billing/transactions`
   */
  listTransactions(input?: { query?: Query<"listTransactions"> } & CallOptions): PagedCall<Data<"listTransactions">, "transactions">;
  /**
   * The ledger as a CSV file.
   * Needs the permission `billing:read`.
   *
   * `GET /billing/transactions/export`
   */
  exportTransactions(input?: { query?: Query<"exportTransactions"> } & CallOptions): Call<Data<"exportTransactions">>;
  /**
   * Start a top-up; the answer has the address of the payment page.
   * Needs the permission `billing:write`.
   *
   * `POST /billing/top-up`
   */
  createTopUp(input: { body: Body<"createTopUp"> } & CallOptions): Call<Data<"createTopUp">>;
  /**
   * Mailing lists, newest first.
   * Needs the permission `mailing_lists:read`.
   *
   * `GET /mailing-lists`
   */
  listMailingLists(input?: CallOptions): Call<Data<"listMailingLists">>;
  /**
   * Create a mailing list.
   * Needs the permission `mailing_lists:write`.
   *
   * `POST /mailing-lists`
   */
  createMailingList(input: { body: Body<"createMailingList"> } & CallOptions): Call<Data<"createMailingList">>;
  /**
   * Growth, engagement and health of every list over the last days.
   * Needs the permission `mailing_lists:read`.
   *
   * `GET /mailing-lists/stats`
   */
  getMailingListStats(input?: { query?: Query<"getMailingListStats"> } & CallOptions): Call<Data<"getMailingListStats">>;
  /**
   * One mailing list.
   * Needs the permission `mailing_lists:read`.
   *
   * `GET /mailing-lists/{id}`
   */
  getMailingList(input: { id: string } & CallOptions): Call<Data<"getMailingList">>;
  /**
   * Change a mailing list; omitted fields stay.
   * Needs the permission `mailing_lists:write`.
   *
   * `PUT /mailing-lists/{id}`
   */
  updateMailingList(input: { id: string; body: Body<"updateMailingList"> } & CallOptions): Call<Data<"updateMailingList">>;
  /**
   * Delete a mailing list and its memberships; people on no other list are deleted.
   * Needs the permission `mailing_lists:write`.
   *
   * `DELETE /mailing-lists/{id}`
   */
  deleteMailingList(input: { id: string } & CallOptions): Call<Data<"deleteMailingList">>;
  /**
   * The sign-up form of a list.
   * Needs the permission `mailing_lists:read`.
   *
   * `GET /mailing-lists/{id}/signup-form`
   */
  getSignupForm(input: { id: string } & CallOptions): Call<Data<"getSignupForm">>;
  /**
   * Open or close the sign-up form of a list; people who fill it in join by a link that is mailed to them.
   * Needs the permission `mailing_lists:write`.
   *
   * `PUT /mailing-lists/{id}/signup-form`
   */
  updateSignupForm(input: { id: string; body: Body<"updateSignupForm"> } & CallOptions): Call<Data<"updateSignupForm">>;
  /**
   * The subscribers of a list, newest person first.
   * Needs the permission `subscribers:read`.
   *
   * `GET /mailing-lists/{id}/subscribers`
   */
  listMembers(input: { id: string; query?: Query<"listMembers"> } & CallOptions): PagedCall<Data<"listMembers">, "subscribers">;
  /**
   * Add a person to a list; a person of another list stays the same person.
   * Needs the permission `subscribers:write`.
   *
   * `POST /mailing-lists/{id}/subscribers`
   */
  addMember(input: { id: string; body: Body<"addMember"> } & CallOptions): Call<Data<"addMember">>;
  /**
   * Remove all members of a list; people on no other list are deleted.
   * Needs the permission `subscribers:write`.
   *
   * `DELETE /mailing-lists/{id}/subscribers/all`
   */
  removeAllMembers(input: { id: string } & CallOptions): Call<Data<"removeAllMembers">>;
  /**
   * Change a subscriber; omitted fields stay, null clears a name or a custom field.
   * Needs the permission `subscribers:write`.
   *
   * `PUT /mailing-lists/{id}/subscribers/{subscriber_id}`
   */
  updateMember(input: { id: string; subscriber_id: string; body: Body<"updateMember"> } & CallOptions): Call<Data<"updateMember">>;
  /**
   * Remove a person from a list; a person on no other list is deleted.
   * Needs the permission `subscribers:write`.
   *
   * `DELETE /mailing-lists/{id}/subscribers/{subscriber_id}`
   */
  removeMember(input: { id: string; subscriber_id: string } & CallOptions): Call<Data<"removeMember">>;
  /**
   * Set a subscriber's status; bounced and complained apply to every list, and suppress the address.
   * Needs the permission `subscribers:write`.
   *
   * `PUT /mailing-lists/{id}/subscribers/{subscriber_id}/status`
   */
  setMemberStatus(input: { id: string; subscriber_id: string; body: Body<"setMemberStatus"> } & CallOptions): Call<Data<"setMemberStatus">>;
  /**
   * The people of the workspace, newest first.
   * Needs the permission `subscribers:read`.
   *
   * `GET /subscribers`
   */
  listSubscribers(input?: { query?: Query<"listSubscribers"> } & CallOptions): PagedCall<Data<"listSubscribers">, "subscribers">;
  /**
   * Everything about one person.
   * Needs the permission `subscribers:read`.
   *
   * `GET /subscribers/{id}`
   */
  getSubscriber(input: { id: string } & CallOptions): Call<Data<"getSubscriber">>;
  /**
   * Import subscribers from a CSV file, in the background.
   * Needs the permission `subscribers:write`.
   *
   * `POST /mailing-lists/{id}/subscribers/import-async`
   */
  importSubscribers(input: { id: string; body: Body<"importSubscribers">; query?: Query<"importSubscribers"> } & CallOptions): Call<Data<"importSubscribers">>;
  /**
   * Export subscribers to a CSV file, in the background.
   * Needs the permission `subscribers:write`.
   *
   * `POST /mailing-lists/{id}/subscribers/export-async`
   */
  exportSubscribers(input: { id: string; body?: Body<"exportSubscribers"> } & CallOptions): Call<Data<"exportSubscribers">>;
  /**
   * The list's own custom fields in display order.
   * Needs the permission `custom_fields:read`.
   *
   * `GET /mailing-lists/{id}/custom-fields`
   */
  listCustomFields(input: { id: string } & CallOptions): Call<Data<"listCustomFields">>;
  /**
   * Add a custom field to a list.
   * Needs the permission `custom_fields:write`.
   *
   * `POST /mailing-lists/{id}/custom-fields`
   */
  createCustomField(input: { id: string; body: Body<"createCustomField"> } & CallOptions): Call<Data<"createCustomField">>;
  /**
   * Change a custom field of a list; omitted fields stay, the name cannot change.
   * Needs the permission `custom_fields:write`.
   *
   * `PUT /mailing-lists/{id}/custom-fields/{field_id}`
   */
  updateCustomField(input: { id: string; field_id: string; body: Body<"updateCustomField"> } & CallOptions): Call<Data<"updateCustomField">>;
  /**
   * Delete a custom field of a list; stored values of subscribers stay.
   * Needs the permission `custom_fields:write`.
   *
   * `DELETE /mailing-lists/{id}/custom-fields/{field_id}`
   */
  deleteCustomField(input: { id: string; field_id: string } & CallOptions): Call<Data<"deleteCustomField">>;
  /**
   * The custom fields of every list, in display order.
   * Needs the permission `custom_fields:read`.
   *
   * `GET /custom-fields/global`
   */
  listGlobalCustomFields(input?: CallOptions): Call<Data<"listGlobalCustomFields">>;
  /**
   * Add a custom field to every list; a list's own field of the same name takes precedence.
   * Needs the permission `custom_fields:write`.
   *
   * `POST /custom-fields/global`
   */
  createGlobalCustomField(input: { body: Body<"createGlobalCustomField"> } & CallOptions): Call<Data<"createGlobalCustomField">>;
  /**
   * Change a global custom field; omitted fields stay, the name cannot change.
   * Needs the permission `custom_fields:write`.
   *
   * `PUT /custom-fields/global/{field_id}`
   */
  updateGlobalCustomField(input: { field_id: string; body: Body<"updateGlobalCustomField"> } & CallOptions): Call<Data<"updateGlobalCustomField">>;
  /**
   * Delete a global custom field; stored values of subscribers stay.
   * Needs the permission `custom_fields:write`.
   *
   * `DELETE /custom-fields/global/{field_id}`
   */
  deleteGlobalCustomField(input: { field_id: string } & CallOptions): Call<Data<"deleteGlobalCustomField">>;
  /**
   * Segments of all lists, newest first.
   * Needs the permission `segments:read`.
   *
   * `GET /segments`
   */
  listSegments(input?: { query?: Query<"listSegments"> } & CallOptions): PagedCall<Data<"listSegments">, "segments">;
  /**
   * The segments of a list, newest first.
   * Needs the permission `segments:read`.
   *
   * `GET /mailing-lists/{id}/segments`
   */
  listSegmentsOfList(input: { id: string; query?: Query<"listSegmentsOfList"> } & CallOptions): PagedCall<Data<"listSegmentsOfList">, "segments">;
  /**
   * Save conditions as a segment of a list.
   * Needs the permission `segments:write`.
   *
   * `POST /mailing-lists/{id}/segments`
   */
  createSegment(input: { id: string; body: Body<"createSegment"> } & CallOptions): Call<Data<"createSegment">>;
  /**
   * Count the people who meet conditions, without saving them.
   * Needs the permission `segments:read`.
   *
   * `POST /mailing-lists/{id}/segments/preview`
   */
  previewSegment(input: { id: string; body: Body<"previewSegment"> } & CallOptions): Call<Data<"previewSegment">>;
  /**
   * One segment.
   * Needs the permission `segments:read`.
   *
   * `GET /mailing-lists/{id}/segments/{segment_id}`
   */
  getSegment(input: { id: string; segment_id: string } & CallOptions): Call<Data<"getSegment">>;
  /**
   * Change a segment; omitted fields stay.
   * Needs the permission `segments:write`.
   *
   * `PUT /mailing-lists/{id}/segments/{segment_id}`
   */
  updateSegment(input: { id: string; segment_id: string; body: Body<"updateSegment"> } & CallOptions): Call<Data<"updateSegment">>;
  /**
   * Delete a segment; its members do not change.
   * Needs the permission `segments:write`.
   *
   * `DELETE /mailing-lists/{id}/segments/{segment_id}`
   */
  deleteSegment(input: { id: string; segment_id: string } & CallOptions): Call<Data<"deleteSegment">>;
  /**
   * The subscribers in a segment now, newest person first.
   * Needs the permission `subscribers:read`.
   *
   * `GET /mailing-lists/{id}/segments/{segment_id}/subscribers`
   */
  listSegmentMembers(input: { id: string; segment_id: string; query?: Query<"listSegmentMembers"> } & CallOptions): PagedCall<Data<"listSegmentMembers">, "subscribers">;
  /**
   * The segments that a person is in now.
   * Needs the permission `segments:read`.
   *
   * `GET /subscribers/{id}/segments`
   */
  listSegmentsOfSubscriber(input: { id: string } & CallOptions): Call<Data<"listSegmentsOfSubscriber">>;
  /**
   * Suppression lists, newest first; the list of bounces and complaints is always there.
   * Needs the permission `suppression_lists:read`.
   *
   * `GET /suppression-lists`
   */
  listSuppressionLists(input?: CallOptions): Call<Data<"listSuppressionLists">>;
  /**
   * Create a suppression list.
   * Needs the permission `suppression_lists:write`.
   *
   * `POST /suppression-lists`
   */
  createSuppressionList(input: { body: Body<"createSuppressionList"> } & CallOptions): Call<Data<"createSuppressionList">>;
  /**
   * One suppression list.
   * Needs the permission `suppression_lists:read`.
   *
   * `GET /suppression-lists/{id}`
   */
  getSuppressionList(input: { id: string } & CallOptions): Call<Data<"getSuppressionList">>;
  /**
   * Change a suppression list; omitted fields stay.
   * Needs the permission `suppression_lists:write`.
   *
   * `PUT /suppression-lists/{id}`
   */
  updateSuppressionList(input: { id: string; body: Body<"updateSuppressionList"> } & CallOptions): Call<Data<"updateSuppressionList">>;
  /**
   * Delete a suppression list with its entries.
   * Needs the permission `suppression_lists:write`.
   *
   * `DELETE /suppression-lists/{id}`
   */
  deleteSuppressionList(input: { id: string } & CallOptions): Call<Data<"deleteSuppressionList">>;
  /**
   * Up to 1000 entries of a list, newest first; null when there are none.
   * Needs the permission `suppression_lists:read`.
   *
   * `GET /suppression-lists/{id}/entries`
   */
  listSuppressionEntries(input: { id: string; query?: Query<"listSuppressionEntries"> } & CallOptions): PagedCall<Data<"listSuppressionEntries">, "data">;
  /**
   * Add addresses and domains to a list, one a line.
   * Needs the permission `suppression_lists:write`.
   *
   * `POST /suppression-lists/{id}/entries`
   */
  addSuppressionEntries(input: { id: string; body: Body<"addSuppressionEntries"> } & CallOptions): Call<Data<"addSuppressionEntries">>;
  /**
   * Add the addresses and domains of a file to a list, all or nothing.
   * Needs the permission `suppression_lists:write`.
   *
   * `POST /suppression-lists/{id}/import`
   */
  importSuppressionEntries(input: { id: string; body: Body<"importSuppressionEntries"> } & CallOptions): Call<Data<"importSuppressionEntries">>;
  /**
   * Remove an entry from a list.
   * Needs the permission `suppression_lists:write`.
   *
   * `DELETE /suppression-lists/{id}/entries/{entry_id}`
   */
  deleteSuppressionEntry(input: { id: string; entry_id: string } & CallOptions): Call<Data<"deleteSuppressionEntry">>;
  /**
   * Check whether a list suppresses an address or domain.
   * Needs the permission `suppression_lists:read`.
   *
   * `POST /suppression-lists/{id}/test`
   */
  testSuppression(input: { id: string; body: Body<"testSuppression"> } & CallOptions): Call<Data<"testSuppression">>;
  /**
   * List the sending domains, newest first.
   * Needs the permission `sending_domains:read`.
   *
   * `GET /sending-domains`
   */
  listSendingDomains(input?: CallOptions): Call<Data<"listSendingDomains">>;
  /**
   * Add a sending domain, and generate its DKIM key.
   * Needs the permission `sending_domains:write`.
   *
   * `POST /sending-domains`
   */
  createSendingDomain(input: { body: Body<"createSendingDomain"> } & CallOptions): Call<Data<"createSendingDomain">>;
  /**
   * Delete a sending domain that no scheduled or sending campaign needs, and destroy its DKIM keys.
   * Needs the permission `sending_domains:write`.
   *
   * `DELETE /sending-domains/{id}`
   */
  deleteSendingDomain(input: { id: string } & CallOptions): Call<Data<"deleteSendingDomain">>;
  /**
   * Show the DNS records to publish and what is published now.
   * Needs the permission `sending_domains:read`.
   *
   * `GET /sending-domains/{id}/dns-status`
   */
  getSendingDomainDnsStatus(input: { id: string } & CallOptions): Call<Data<"getSendingDomainDnsStatus">>;
  /**
   * Check the DNS now and update every flag.
   * Needs the permission `sending_domains:write`.
   *
   * `POST /sending-domains/{id}/verify`
   */
  verifySendingDomain(input: { id: string } & CallOptions): Call<Data<"verifySendingDomain">>;
  /**
   * Switch the domain's own return path on or off; it is used once its record is verified.
   * Needs the permission `sending_domains:write`.
   *
   * `PATCH /sending-domains/{id}/custom-return-path`
   */
  setCustomReturnPath(input: { id: string; body: Body<"setCustomReturnPath"> } & CallOptions): Call<Data<"setCustomReturnPath">>;
  /**
   * Switch the collection of the domain's DMARC reports on or off.
   * Needs the permission `sending_domains:write`.
   *
   * `PATCH /sending-domains/{id}/dmarc-ingestion`
   */
  setDmarcIngestion(input: { id: string; body: Body<"setDmarcIngestion"> } & CallOptions): Call<Data<"setDmarcIngestion">>;
  /**
   * List the verified senders, newest first.
   * Needs the permission `verified_senders:read`.
   *
   * `GET /verified-senders`
   */
  listVerifiedSenders(input?: CallOptions): Call<Data<"listVerifiedSenders">>;
  /**
   * Add a sender address and mail it a confirmation link.
   * Needs the permission `verified_senders:write`.
   *
   * `POST /verified-senders`
   */
  createVerifiedSender(input: { body: Body<"createVerifiedSender"> } & CallOptions): Call<Data<"createVerifiedSender">>;
  /**
   * Mail a new confirmation link, at most once a minute; older links stop working.
   * Needs the permission `verified_senders:write`.
   *
   * `POST /verified-senders/{id}/resend`
   */
  resendVerifiedSenderLink(input: { id: string } & CallOptions): Call<Data<"resendVerifiedSenderLink">>;
  /**
   * Delete a verified sender that no scheduled or sending campaign needs.
   * Needs the permission `verified_senders:write`.
   *
   * `DELETE /verified-senders/{id}`
   */
  deleteVerifiedSender(input: { id: string } & CallOptions): Call<Data<"deleteVerifiedSender">>;
  /**
   * List the DKIM keys, newest first.
   * Needs the permission `dkims:read`.
   *
   * `GET /dkims`
   */
  listDkimKeys(input?: CallOptions): Call<Data<"listDkimKeys">>;
  /**
   * Generate a DKIM key for a sending domain.
   * Needs the permission `dkims:write`.
   *
   * `POST /dkims`
   */
  createDkimKey(input: { body: Body<"createDkimKey"> } & CallOptions): Call<Data<"createDkimKey">>;
  /**
   * Check that the published record matches the key.
   * Needs the permission `dkims:write`.
   *
   * `POST /dkims/{id}/verify-dns`
   */
  verifyDkimKeyDns(input: { id: string } & CallOptions): Call<Data<"verifyDkimKeyDns">>;
  /**
   * Delete a DKIM key; the only key of a verified domain cannot be deleted.
   * Needs the permission `dkims:write`.
   *
   * `DELETE /dkims/{id}`
   */
  deleteDkimKey(input: { id: string } & CallOptions): Call<Data<"deleteDkimKey">>;
  /**
   * List the tracking domains, newest first.
   * Needs the permission `tracking_domains:read`.
   *
   * `GET /tracking-domains`
   */
  listTrackingDomains(input?: CallOptions): Call<Data<"listTrackingDomains">>;
  /**
   * Add a tracking domain.
   * Needs the permission `tracking_domains:write`.
   *
   * `POST /tracking-domains`
   */
  createTrackingDomain(input: { body: Body<"createTrackingDomain"> } & CallOptions): Call<Data<"createTrackingDomain">>;
  /**
   * One tracking domain.
   * Needs the permission `tracking_domains:read`.
   *
   * `GET /tracking-domains/{id}`
   */
  getTrackingDomain(input: { id: string } & CallOptions): Call<Data<"getTrackingDomain">>;
  /**
   * Rename a tracking domain; the new name has to be verified.
   * Needs the permission `tracking_domains:write`.
   *
   * `PUT /tracking-domains/{id}`
   */
  updateTrackingDomain(input: { id: string; body: Body<"updateTrackingDomain"> } & CallOptions): Call<Data<"updateTrackingDomain">>;
  /**
   * Delete a tracking domain; links in sent mail work as long as its DNS record exists.
   * Needs the permission `tracking_domains:write`.
   *
   * `DELETE /tracking-domains/{id}`
   */
  deleteTrackingDomain(input: { id: string } & CallOptions): Call<Data<"deleteTrackingDomain">>;
  /**
   * Look for the CNAME record now.
   * Needs the permission `tracking_domains:write`.
   *
   * `POST /tracking-domains/{id}/verify`
   */
  verifyTrackingDomain(input: { id: string } & CallOptions): Call<Data<"verifyTrackingDomain">>;
  /**
   * List the sending IPs with the state of their warm-up, newest first.
   * Needs the permission `sending_ips:read`.
   *
   * `GET /sending-ips`
   */
  listSendingIps(input?: CallOptions): Call<Data<"listSendingIps">>;
  /**
   * Claim an address of the delivery machines for this workspace.
   * Needs the permission `sending_ips:write`.
   *
   * `POST /sending-ips`
   */
  createSendingIp(input: { body: Body<"createSendingIp"> } & CallOptions): Call<Data<"createSendingIp">>;
  /**
   * One sending IP with the state of its warm-up.
   * Needs the permission `sending_ips:read`.
   *
   * `GET /sending-ips/{id}`
   */
  getSendingIp(input: { id: string } & CallOptions): Call<Data<"getSendingIp">>;
  /**
   * Change a sending IP, or switch its warm-up on or off; omitted fields stay.
   * Needs the permission `sending_ips:write`.
   *
   * `PATCH /sending-ips/{id}`
   */
  updateSendingIp(input: { id: string; body: Body<"updateSendingIp"> } & CallOptions): Call<Data<"updateSendingIp">>;
  /**
   * Delete a sending IP; mail that waits for it leaves by the remaining rules.
   * Needs the permission `sending_ips:write`.
   *
   * `DELETE /sending-ips/{id}`
   */
  deleteSendingIp(input: { id: string } & CallOptions): Call<Data<"deleteSendingIp">>;
  /**
   * List the routing rules in the order in which they are tried.
   * Needs the permission `routing_rules:read`.
   *
   * `GET /routing-rules`
   */
  listRoutingRules(input?: CallOptions): Call<Data<"listRoutingRules">>;
  /**
   * Add a routing rule.
   * Needs the permission `routing_rules:write`.
   *
   * `POST /routing-rules`
   */
  createRoutingRule(input: { body: Body<"createRoutingRule"> } & CallOptions): Call<Data<"createRoutingRule">>;
  /**
   * One routing rule.
   * Needs the permission `routing_rules:read`.
   *
   * `GET /routing-rules/{id}`
   */
  getRoutingRule(input: { id: string } & CallOptions): Call<Data<"getRoutingRule">>;
  /**
   * Change a routing rule; omitted fields stay, match and action are replaced as a whole.
   * Needs the permission `routing_rules:write`.
   *
   * `PATCH /routing-rules/{id}`
   */
  updateRoutingRule(input: { id: string; body: Body<"updateRoutingRule"> } & CallOptions): Call<Data<"updateRoutingRule">>;
  /**
   * Delete a routing rule that no scheduled or sending campaign names.
   * Needs the permission `routing_rules:write`.
   *
   * `DELETE /routing-rules/{id}`
   */
  deleteRoutingRule(input: { id: string } & CallOptions): Call<Data<"deleteRoutingRule">>;
  /**
   * List DMARC reports about the domain, with totals by source.
   * Needs the permission `sending_domains:read`.
   *
   * `GET /sending-domains/{id}/dmarc-reports`
   */
  listDmarcReports(input: { id: string; query?: Query<"listDmarcReports"> } & CallOptions): PagedCall<Data<"listDmarcReports">, "reports">;
  /**
   * List TLS reports (TLS-RPT): how often others could deliver to the domain over TLS.
   * Needs the permission `sending_domains:read`.
   *
   * `GET /sending-domains/{id}/tls-reports`
   */
  listTlsReports(input: { id: string; query?: Query<"listTlsReports"> } & CallOptions): PagedCall<Data<"listTlsReports">, "reports">;
  /**
   * Campaigns with their counts and rates, newest first.
   * Needs the permission `campaigns:read`.
   *
   * `GET /campaigns`
   */
  listCampaigns(input?: { query?: Query<"listCampaigns"> } & CallOptions): PagedCall<Data<"listCampaigns">, "campaigns">;
  /**
   * Create a campaign as a draft.
   * Needs the permission `campaigns:write`.
   *
   * `POST /campaigns`
   */
  createCampaign(input: { body: Body<"createCampaign"> } & CallOptions): Call<Data<"createCampaign">>;
  /**
   * One campaign with its content, settings and counts.
   * Needs the permission `campaigns:read`.
   *
   * `GET /campaigns/{id}`
   */
  getCampaign(input: { id: string } & CallOptions): Call<Data<"getCampaign">>;
  /**
   * Replace a draft; omitted fields return to their defaults.
   * Needs the permission `campaigns:write`.
   *
   * `PUT /campaigns/{id}`
   */
  replaceCampaign(input: { id: string; body: Body<"replaceCampaign"> } & CallOptions): Call<Data<"replaceCampaign">>;
  /**
   * Delete a campaign that is not sending; its messages stay in the log.
   * Needs the permission `campaigns:write`.
   *
   * `DELETE /campaigns/{id}`
   */
  deleteCampaign(input: { id: string } & CallOptions): Call<Data<"deleteCampaign">>;
  /**
   * Send a draft now, or at its scheduled time.
   * Needs the permission `campaigns:send`.
   *
   * `POST /campaigns/{id}/send`
   */
  sendCampaign(input: { id: string; body?: Body<"sendCampaign"> } & CallOptions): Call<Data<"sendCampaign">>;
  /**
   * Pause a sending campaign; messages being sent are finished, no others are sent.
   * Needs the permission `campaigns:send`.
   *
   * `POST /campaigns/{id}/pause`
   */
  pauseCampaign(input: { id: string } & CallOptions): Call<Data<"pauseCampaign">>;
  /**
   * Resume a paused campaign where it stopped.
   * Needs the permission `campaigns:send`.
   *
   * `POST /campaigns/{id}/resume`
   */
  resumeCampaign(input: { id: string } & CallOptions): Call<Data<"resumeCampaign">>;
  /**
   * Cancel a campaign permanently; messages that were not sent are cancelled.
   * Needs the permission `campaigns:send`.
   *
   * `POST /campaigns/{id}/cancel`
   */
  cancelCampaign(input: { id: string } & CallOptions): Call<Data<"cancelCampaign">>;
  /**
   * Turn a scheduled campaign back into a draft.
   * Needs the permission `campaigns:send`.
   *
   * `POST /campaigns/{id}/unschedule`
   */
  unscheduleCampaign(input: { id: string } & CallOptions): Call<Data<"unscheduleCampaign">>;
  /**
   * Duplicate a campaign in any status as a new draft.
   * Needs the permission `campaigns:write`.
   *
   * `POST /campaigns/{id}/duplicate`
   */
  duplicateCampaign(input: { id: string } & CallOptions): Call<Data<"duplicateCampaign">>;
  /**
   * Send a test of the mail to a few addresses.
   * Needs the permission `campaigns:send`.
   *
   * `POST /campaigns/{id}/test`
   */
  testCampaign(input: { id: string; body: Body<"testCampaign"> } & CallOptions): Call<Data<"testCampaign">>;
  /**
   * Activity of a campaign since it was sent, hour by hour, cumulative.
   * Needs the permission `campaigns:read`.
   *
   * `GET /campaigns/{id}/activity`
   */
  getCampaignActivity(input: { id: string } & CallOptions): Call<Data<"getCampaignActivity">>;
  /**
   * Delivery results by recipient domain, largest first.
   * Needs the permission `campaigns:read`.
   *
   * `GET /campaigns/{id}/smtp-domain-stats`
   */
  getCampaignDomainStats(input: { id: string; query?: Query<"getCampaignDomainStats"> } & CallOptions): PagedCall<Data<"getCampaignDomainStats">, "stats">;
  /**
   * The messages of a campaign with their status.
   * Needs the permission `campaigns:read`.
   *
   * `GET /campaigns/{id}/messages`
   */
  listCampaignMessages(input: { id: string; query?: Query<"listCampaignMessages"> } & CallOptions): PagedCall<Data<"listCampaignMessages">, "messages">;
  /**
   * Recent activity of recipients, newest first.
   * Needs the permission `campaigns:read`.
   *
   * `GET /campaigns/{id}/recent-activity`
   */
  listCampaignActivities(input: { id: string; query?: Query<"listCampaignActivities"> } & CallOptions): PagedCall<Data<"listCampaignActivities">, "activities">;
  /**
   * The tracked links of a campaign with their clicks.
   * Needs the permission `campaigns:read`.
   *
   * `GET /campaigns/{id}/links`
   */
  listCampaignLinks(input: { id: string } & CallOptions): Call<Data<"listCampaignLinks">>;
  /**
   * Autoresponders with their counts, newest first.
   * Needs the permission `autoresponders:read`.
   *
   * `GET /autoresponders`
   */
  listAutoresponders(input?: { query?: Query<"listAutoresponders"> } & CallOptions): PagedCall<Data<"listAutoresponders">, "autoresponders">;
  /**
   * Create an autoresponder; it is inactive.
   * Needs the permission `autoresponders:write`.
   *
   * `POST /autoresponders`
   */
  createAutoresponder(input: { body: Body<"createAutoresponder"> } & CallOptions): Call<Data<"createAutoresponder">>;
  /**
   * One autoresponder with its steps.
   * Needs the permission `autoresponders:read`.
   *
   * `GET /autoresponders/{id}`
   */
  getAutoresponder(input: { id: string } & CallOptions): Call<Data<"getAutoresponder">>;
  /**
   * Replace an autoresponder, active or not; omitted fields return to their defaults.
   * Needs the permission `autoresponders:write`.
   *
   * `PUT /autoresponders/{id}`
   */
  replaceAutoresponder(input: { id: string; body: Body<"replaceAutoresponder"> } & CallOptions): Call<Data<"replaceAutoresponder">>;
  /**
   * Delete an autoresponder; its queued mail is cancelled, its sent mail stays in the log.
   * Needs the permission `autoresponders:write`.
   *
   * `DELETE /autoresponders/{id}`
   */
  deleteAutoresponder(input: { id: string } & CallOptions): Call<Data<"deleteAutoresponder">>;
  /**
   * Start or resume: people who join from now on get the series.
   * Needs the permission `autoresponders:send`.
   *
   * `POST /autoresponders/{id}/activate`
   */
  activateAutoresponder(input: { id: string } & CallOptions): Call<Data<"activateAutoresponder">>;
  /**
   * Stop at once: messages being sent are finished, no others are sent.
   * Needs the permission `autoresponders:send`.
   *
   * `POST /autoresponders/{id}/deactivate`
   */
  deactivateAutoresponder(input: { id: string } & CallOptions): Call<Data<"deactivateAutoresponder">>;
  /**
   * Send one transactional email to one recipient.
   * Needs the permission `emails:send`.
   *
   * `POST /emails/send`
   */
  sendEmail(input: { body: Body<"sendEmail">; query?: Query<"sendEmail"> } & CallOptions): Call<Data<"sendEmail">>;
  /**
   * Check an IP address or a domain against all blacklists now.
   * Needs the permission `blacklist:write`.
   *
   * `POST /blacklist/check`
   */
  checkBlacklists(input: { body: Body<"checkBlacklists"> } & CallOptions): Call<Data<"checkBlacklists">>;
  /**
   * List the monitors, newest first.
   * Needs the permission `blacklist:read`.
   *
   * `GET /blacklist/monitors`
   */
  listBlacklistMonitors(input?: CallOptions): Call<Data<"listBlacklistMonitors">>;
  /**
   * Create a monitor for an IP address or a domain, at most 1000 per workspace; it runs within a minute.
   * Needs the permission `blacklist:write`.
   *
   * `POST /blacklist/monitors`
   */
  createBlacklistMonitor(input: { body: Body<"createBlacklistMonitor"> } & CallOptions): Call<Data<"createBlacklistMonitor">>;
  /**
   * Get a monitor.
   * Needs the permission `blacklist:read`.
   *
   * `GET /blacklist/monitors/{id}`
   */
  getBlacklistMonitor(input: { id: string } & CallOptions): Call<Data<"getBlacklistMonitor">>;
  /**
   * Change a monitor's frequency or notices, or pause or resume it.
   * Needs the permission `blacklist:write`.
   *
   * `PATCH /blacklist/monitors/{id}`
   */
  updateBlacklistMonitor(input: { id: string; body: Body<"updateBlacklistMonitor"> } & CallOptions): Call<Data<"updateBlacklistMonitor">>;
  /**
   * Delete a monitor; its history is kept.
   * Needs the permission `blacklist:write`.
   *
   * `DELETE /blacklist/monitors/{id}`
   */
  deleteBlacklistMonitor(input: { id: string } & CallOptions): Call<Data<"deleteBlacklistMonitor">>;
  /**
   * List the checks of the last 400 days, newest first.
   * Needs the permission `blacklist:read`.
   *
   * `GET /blacklist/history`
   */
  listBlacklistHistory(input?: { query?: Query<"listBlacklistHistory"> } & CallOptions): Call<Data<"listBlacklistHistory">>;
  /**
   * Validate one address.
   * Needs the permission `validations:write`.
   *
   * `POST /validations`
   */
  validateEmail(input: { body: Body<"validateEmail"> } & CallOptions): Call<Data<"validateEmail">>;
  /**
   * Validate the addresses of a file in the background.
   * Needs the permission `validations:write`.
   *
   * `POST /validations/bulk`
   */
  validateFile(input: { body: Body<"validateFile"> } & CallOptions): Call<Data<"validateFile">>;
  /**
   * List validated addresses, newest first.
   * Needs the permission `validations:read`.
   *
   * `GET /validations/history`
   */
  listValidations(input?: { query?: Query<"listValidations"> } & CallOptions): Call<Data<"listValidations">>;
  /**
   * Get the usage of this hour and this month.
   * Needs the permission `validations:read`.
   *
   * `GET /validations/usage`
   */
  getValidationUsage(input?: CallOptions): Call<Data<"getValidationUsage">>;
  /**
   * Count results by status, in total and by day.
   * Needs the permission `validations:read`.
   *
   * `GET /validations/stats`
   */
  getValidationStats(input?: { query?: Query<"getValidationStats"> } & CallOptions): Call<Data<"getValidationStats">>;
  /**
   * Message log across all channels, newest first.
   * Needs the permission `reports:read`.
   *
   * `GET /messages`
   */
  listMessages(input?: { query?: Query<"listMessages"> } & CallOptions): PagedCall<Data<"listMessages">, "messages">;
  /**
   * One message with the timeline of its attempts and the replies they got.
   * Needs the permission `reports:read`.
   *
   * `GET /messages/{id}`
   */
  getMessage(input: { id: string } & CallOptions): Call<Data<"getMessage">>;
  /**
   * Bounces of all time, newest first.
   * Needs the permission `reports:read`.
   *
   * `GET /bounces`
   */
  listBounces(input?: { query?: Query<"listBounces"> } & CallOptions): PagedCall<Data<"listBounces">, "bounces">;
  /**
   * Complaints of all time, newest first.
   * Needs the permission `reports:read`.
   *
   * `GET /complaints`
   */
  listComplaints(input?: { query?: Query<"listComplaints"> } & CallOptions): PagedCall<Data<"listComplaints">, "complaints">;
  /**
   * Bounces and complaints at a glance: totals, rates, trends, where they come from.
   * Needs the permission `reports:read`.
   *
   * `GET /bounces-complaints/dashboard`
   */
  getBouncesComplaints(input?: { query?: Query<"getBouncesComplaints"> } & CallOptions): Call<Data<"getBouncesComplaints">>;
  /**
   * Figures of this month, and the setup checklist.
   * Needs the permission `reports:read`.
   *
   * `GET /dashboard`
   */
  getDashboard(input?: CallOptions): Call<Data<"getDashboard">>;
  /**
   * Daily delivery figures, every day present; the last 30 days by default.
   * Needs the permission `reports:read`.
   *
   * `GET /stats/chart`
   */
  getSendingChart(input?: { query?: Query<"getSendingChart"> } & CallOptions): Call<Data<"getSendingChart">>;
  /**
   * Sending health: bounces and complaints of the last 30 days against their limits.
   * Needs the permission `reports:read`.
   *
   * `GET /stats/health`
   */
  getSendingHealth(input?: CallOptions): Call<Data<"getSendingHealth">>;
  /**
   * Results of each campaign's messages, newest first.
   * Needs the permission `reports:read`.
   *
   * `GET /stats/campaigns`
   */
  listCampaignStats(input?: { query?: Query<"listCampaignStats"> } & CallOptions): PagedCall<Data<"listCampaignStats">, "stats">;
  /**
   * Results of each autoresponder's messages, newest first.
   * Needs the permission `reports:read`.
   *
   * `GET /stats/autoresponders`
   */
  listAutoresponderStats(input?: { query?: Query<"listAutoresponderStats"> } & CallOptions): PagedCall<Data<"listAutoresponderStats">, "stats">;
  /**
   * Results of the messages that each API key sent by SMTP submission.
   * Needs the permission `reports:read`.
   *
   * `GET /stats/smtp`
   */
  listSmtpStats(input?: { query?: Query<"listSmtpStats"> } & CallOptions): PagedCall<Data<"listSmtpStats">, "stats">;
  /**
   * Results of the messages that each API key sent over the API.
   * Needs the permission `reports:read`.
   *
   * `GET /stats/api`
   */
  listApiStats(input?: { query?: Query<"listApiStats"> } & CallOptions): PagedCall<Data<"listApiStats">, "stats">;
  /**
   * Rates, reputation of sending addresses and domains, and bounces by cause.
   * Needs the permission `reports:read`.
   *
   * `GET /deliverability`
   */
  getDeliverability(input?: { query?: Query<"getDeliverability"> } & CallOptions): Call<Data<"getDeliverability">>;
  /**
   * Results by recipient domain, most messages first.
   * Needs the permission `reports:read`.
   *
   * `GET /deliverability/recipient-domains`
   */
  listRecipientDomains(input?: { query?: Query<"listRecipientDomains"> } & CallOptions): PagedCall<Data<"listRecipientDomains">, "stats">;
  /**
   * List the background jobs that the key can see, newest first.
   * Needs the permission `jobs:read`.
   *
   * `GET /jobs`
   */
  listJobs(input?: { query?: Query<"listJobs"> } & CallOptions): PagedCall<Data<"listJobs">, "jobs">;
  /**
   * Get a job and its progress.
   * Needs the permission `jobs:read`.
   *
   * `GET /jobs/{job_id}`
   */
  getJob(input: { job_id: string } & CallOptions): Call<Data<"getJob">>;
  /**
   * Download the result file of a job, available for seven days.
   * Needs the permission `jobs:read`.
   *
   * `GET /jobs/{job_id}/download`
   */
  downloadJobResult(input: { job_id: string } & CallOptions): Call<Data<"downloadJobResult">>;
  /**
   * Download the rows that a job rejected with their reasons, available for seven days.
   * Needs the permission `jobs:read`.
   *
   * `GET /jobs/{job_id}/errors`
   */
  downloadJobErrors(input: { job_id: string } & CallOptions): Call<Data<"downloadJobErrors">>;
  /**
   * Cancel a job: at once if it waits, within seconds if it runs.
   * Needs the permission `jobs:write`.
   *
   * `POST /jobs/{job_id}/cancel`
   */
  cancelJob(input: { job_id: string } & CallOptions): Call<Data<"cancelJob">>;
  /**
   * List the webhooks, newest first.
   * Needs the permission `webhooks:read`.
   *
   * `GET /webhooks`
   */
  listWebhooks(input?: CallOptions): Call<Data<"listWebhooks">>;
  /**
   * Create a webhook; its secret is shown only in this answer.
   * Needs the permission `webhooks:write`.
   *
   * `POST /webhooks`
   */
  createWebhook(input: { body: Body<"createWebhook"> } & CallOptions): Call<Data<"createWebhook">>;
  /**
   * Get a webhook.
   * Needs the permission `webhooks:read`.
   *
   * `GET /webhooks/{id}`
   */
  getWebhook(input: { id: string } & CallOptions): Call<Data<"getWebhook">>;
  /**
   * Change a webhook, or switch it on or off; omitted fields stay unchanged.
   * Needs the permission `webhooks:write`.
   *
   * `PATCH /webhooks/{id}`
   */
  updateWebhook(input: { id: string; body: Body<"updateWebhook"> } & CallOptions): Call<Data<"updateWebhook">>;
  /**
   * Delete a webhook with all of its deliveries.
   * Needs the permission `webhooks:write`.
   *
   * `DELETE /webhooks/{id}`
   */
  deleteWebhook(input: { id: string } & CallOptions): Call<Data<"deleteWebhook">>;
  /**
   * Rotate the secret of a webhook; for 24 hours the old one signs, too.
   * Needs the permission `webhooks:write`.
   *
   * `POST /webhooks/{id}/rotate-secret`
   */
  rotateWebhookSecret(input: { id: string } & CallOptions): Call<Data<"rotateWebhookSecret">>;
  /**
   * Send a webhook.test event to a webhook, at most ten times a minute.
   * Needs the permission `webhooks:write`.
   *
   * `POST /webhooks/{id}/test`
   */
  testWebhook(input: { id: string } & CallOptions): Call<Data<"testWebhook">>;
  /**
   * List the deliveries of a webhook, newest first, up to 10,000.
   * Needs the permission `webhooks:read`.
   *
   * `GET /webhooks/{id}/deliveries`
   */
  listWebhookDeliveries(input: { id: string; query?: Query<"listWebhookDeliveries"> } & CallOptions): PagedCall<Data<"listWebhookDeliveries">, "deliveries">;
  /**
   * Deliver again now, with the same webhook-id and all retries.
   * Needs the permission `webhooks:write`.
   *
   * `POST /webhooks/{id}/deliveries/{delivery_id}/replay`
   */
  replayWebhookDelivery(input: { id: string; delivery_id: string } & CallOptions): Call<Data<"replayWebhookDelivery">>;
}

/** Method, path and what is particular: `key`: honours Idempotency-Key; `file`: answers a file; `(…)`: the file in a form; `[…]`: the rows of a page. */
export const operationTable = {
  listApiKeys: "GET /api-keys",
  createApiKey: "POST /api-keys",
  listPermissions: "GET /api-keys/permissions",
  getApiKey: "GET /api-keys/{id}",
  updateApiKey: "PUT /api-keys/{id}",
  deactivateApiKey: "DELETE /api-keys/{id}",
  regenerateApiKey: "POST /api-keys/{id}/regenerate",
  reactivateApiKey: "POST /api-keys/{id}/reactivate",
  deleteApiKey: "DELETE /api-keys/{id}/permanent",
  getBillingOverview: "GET /billing/overview",
  getBillingUsage: "GET /billing/usage",
  getSubscription: "GET /billing/subscription",
  subscribe: "POST /billing/subscription key",
  listPlans: "GET /billing/plans",
  cancelSubscription: "POST /billing/subscription/cancel",
  listTransactions: "GET /billing/transactions [transactions]",
  exportTransactions: "GET /billing/transactions/export file",
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
  importSubscribers: "POST /mailing-lists/{id}/subscribers/import-async (csvFile)",
  exportSubscribers: "POST /mailing-lists/{id}/subscribers/export-async",
  listCustomFields: "GET /mailing-lists/{id}/custom-fields",
  createCustomField: "POST /mailing-lists/{id}/custom-fields",
  updateCustomField: "PUT /mailing-lists/{id}/custom-fields/{field_id}",
  deleteCustomField: "DELETE /mailing-lists/{id}/custom-fields/{field_id}",
  listGlobalCustomFields: "GET /custom-fields/global",
  createGlobalCustomField: "POST /custom-fields/global",
  updateGlobalCustomField: "PUT /custom-fields/global/{field_id}",
  deleteGlobalCustomField: "DELETE /custom-fields/global/{field_id}",
  listSegments: "GET /segments [segments]",
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
  getSendingIp: "GET /sending-ips/{id}",
  updateSendingIp: "PATCH /sending-ips/{id}",
  deleteSendingIp: "DELETE /sending-ips/{id}",
  listRoutingRules: "GET /routing-rules",
  createRoutingRule: "POST /routing-rules",
  getRoutingRule: "GET /routing-rules/{id}",
  updateRoutingRule: "PATCH /routing-rules/{id}",
  deleteRoutingRule: "DELETE /routing-rules/{id}",
  listDmarcReports: "GET /sending-domains/{id}/dmarc-reports [reports]",
  listTlsReports: "GET /sending-domains/{id}/tls-reports [reports]",
  listCampaigns: "GET /campaigns [campaigns]",
  createCampaign: "POST /campaigns key",
  getCampaign: "GET /campaigns/{id}",
  replaceCampaign: "PUT /campaigns/{id}",
  deleteCampaign: "DELETE /campaigns/{id}",
  sendCampaign: "POST /campaigns/{id}/send key",
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
  listAutoresponders: "GET /autoresponders [autoresponders]",
  createAutoresponder: "POST /autoresponders key",
  getAutoresponder: "GET /autoresponders/{id}",
  replaceAutoresponder: "PUT /autoresponders/{id}",
  deleteAutoresponder: "DELETE /autoresponders/{id}",
  activateAutoresponder: "POST /autoresponders/{id}/activate",
  deactivateAutoresponder: "POST /autoresponders/{id}/deactivate",
  sendEmail: "POST /emails/send key",
  checkBlacklists: "POST /blacklist/check",
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
  listBounces: "GET /bounces [bounces]",
  listComplaints: "GET /complaints [complaints]",
  getBouncesComplaints: "GET /bounces-complaints/dashboard",
  getDashboard: "GET /dashboard",
  getSendingChart: "GET /stats/chart",
  getSendingHealth: "GET /stats/health",
  listCampaignStats: "GET /stats/campaigns [stats]",
  listAutoresponderStats: "GET /stats/autoresponders [stats]",
  listSmtpStats: "GET /stats/smtp [stats]",
  listApiStats: "GET /stats/api [stats]",
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
  replayWebhookDelivery: "POST /webhooks/{id}/deliveries/{delivery_id}/replay",
} as const;
