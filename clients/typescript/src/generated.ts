/** Generated from openapi.json by `npm run generate`; do not edit. */
import type { Upload } from "./upload.ts";
export interface paths {
    "/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * API keys of the workspace, newest first
         * @description Needs the permission `api_keys:read`.
         */
        get: operations["listApiKeys"];
        put?: never;
        /**
         * Create an API key; only this answer has the secret
         * @description Needs the permission `api_keys:write`.
         */
        post: operations["createApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api-keys/permissions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Permission catalogue: every value a key can hold
         * @description Any valid key, and any member of the workspace, may call this.
         */
        get: operations["listPermissions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api-keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One API key, active or not
         * @description Needs the permission `api_keys:read`.
         */
        get: operations["getApiKey"];
        /**
         * Change name, permissions or expiry; omitted fields stay
         * @description Needs the permission `api_keys:write`.
         */
        put: operations["updateApiKey"];
        post?: never;
        /**
         * Deactivate a key; it can be reactivated
         * @description Needs the permission `api_keys:write`.
         */
        delete: operations["deactivateApiKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api-keys/{id}/regenerate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give an active key a new secret; the old one stops working at once
         * @description Needs the permission `api_keys:write`.
         */
        post: operations["regenerateApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api-keys/{id}/reactivate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reactivate a key, with its old secret
         * @description Needs the permission `api_keys:write`.
         */
        post: operations["reactivateApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api-keys/{id}/permanent": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a key permanently, active or not
         * @description Needs the permission `api_keys:write`.
         */
        delete: operations["deleteApiKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/billing/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Balance, plan, remaining emails of the month, and storage used
         * @description Needs the permission `billing:read`.
         */
        get: operations["getBillingOverview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/billing/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Spending of this month, and the newest charges
         * @description Needs the permission `billing:read`.
         */
        get: operations["getBillingUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/billing/subscription": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The subscription; null on pay as you go
         * @description Needs the permission `billing:read`.
         */
        get: operations["getSubscription"];
        put?: never;
        /**
         * Subscribe, or change plan or interval; applies at once, and the price difference is taken from the balance
         * @description Needs the permission `billing:write`.
         */
        post: operations["subscribe"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/billing/plans": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Plans that can be subscribed to
         * @description Needs the permission `billing:read`.
         */
        get: operations["listPlans"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/billing/subscription/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel the subscription at the end of its current period
         * @description Needs the permission `billing:write`.
         */
        post: operations["cancelSubscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/billing/transactions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The ledger, newest first
         * @description Needs the permission `billing:read`.
         */
        get: operations["listTransactions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/billing/transactions/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The ledger as a CSV file
         * @description Needs the permission `billing:read`.
         */
        get: operations["exportTransactions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/billing/top-up": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a top-up; the answer has the address of the payment page
         * @description Needs the permission `billing:write`.
         */
        post: operations["createTopUp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailing-lists": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Mailing lists, newest first
         * @description Needs the permission `mailing_lists:read`.
         */
        get: operations["listMailingLists"];
        put?: never;
        /**
         * Create a mailing list
         * @description Needs the permission `mailing_lists:write`.
         */
        post: operations["createMailingList"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailing-lists/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Growth, engagement and health of every list over the last days
         * @description Needs the permission `mailing_lists:read`.
         */
        get: operations["getMailingListStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailing-lists/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One mailing list
         * @description Needs the permission `mailing_lists:read`.
         */
        get: operations["getMailingList"];
        /**
         * Change a mailing list; omitted fields stay
         * @description Needs the permission `mailing_lists:write`.
         */
        put: operations["updateMailingList"];
        post?: never;
        /**
         * Delete a mailing list and its memberships; people on no other list are deleted
         * @description Needs the permission `mailing_lists:write`.
         */
        delete: operations["deleteMailingList"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailing-lists/{id}/signup-form": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The sign-up form of a list
         * @description Needs the permission `mailing_lists:read`.
         */
        get: operations["getSignupForm"];
        /**
         * Open or close the sign-up form of a list; people who fill it in join by a link that is mailed to them
         * @description Needs the permission `mailing_lists:write`.
         */
        put: operations["updateSignupForm"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailing-lists/{id}/subscribers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The subscribers of a list, newest person first
         * @description Needs the permission `subscribers:read`.
         */
        get: operations["listMembers"];
        put?: never;
        /**
         * Add a person to a list; a person of another list stays the same person
         * @description Needs the permission `subscribers:write`.
         */
        post: operations["addMember"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailing-lists/{id}/subscribers/all": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove all members of a list; people on no other list are deleted
         * @description Needs the permission `subscribers:write`.
         */
        delete: operations["removeAllMembers"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailing-lists/{id}/subscribers/{subscriber_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Change a subscriber; omitted fields stay, null clears a name or a custom field
         * @description Needs the permission `subscribers:write`.
         */
        put: operations["updateMember"];
        post?: never;
        /**
         * Remove a person from a list; a person on no other list is deleted
         * @description Needs the permission `subscribers:write`.
         */
        delete: operations["removeMember"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailing-lists/{id}/subscribers/{subscriber_id}/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set a subscriber's status; bounced and complained apply to every list, and suppress the address
         * @description Needs the permission `subscribers:write`.
         */
        put: operations["setMemberStatus"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subscribers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The people of the workspace, newest first
         * @description Needs the permission `subscribers:read`.
         */
        get: operations["listSubscribers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subscribers/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Everything about one person
         * @description Needs the permission `subscribers:read`.
         */
        get: operations["getSubscriber"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailing-lists/{id}/subscribers/import-async": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import subscribers from a CSV file, in the background
         * @description Needs the permission `subscribers:write`.
         */
        post: operations["importSubscribers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailing-lists/{id}/subscribers/export-async": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Export subscribers to a CSV file, in the background
         * @description Needs the permission `subscribers:write`.
         */
        post: operations["exportSubscribers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailing-lists/{id}/custom-fields": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The list's own custom fields in display order
         * @description Needs the permission `custom_fields:read`.
         */
        get: operations["listCustomFields"];
        put?: never;
        /**
         * Add a custom field to a list
         * @description Needs the permission `custom_fields:write`.
         */
        post: operations["createCustomField"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailing-lists/{id}/custom-fields/{field_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Change a custom field of a list; omitted fields stay, the name cannot change
         * @description Needs the permission `custom_fields:write`.
         */
        put: operations["updateCustomField"];
        post?: never;
        /**
         * Delete a custom field of a list; stored values of subscribers stay
         * @description Needs the permission `custom_fields:write`.
         */
        delete: operations["deleteCustomField"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/custom-fields/global": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The custom fields of every list, in display order
         * @description Needs the permission `custom_fields:read`.
         */
        get: operations["listGlobalCustomFields"];
        put?: never;
        /**
         * Add a custom field to every list; a list's own field of the same name takes precedence
         * @description Needs the permission `custom_fields:write`.
         */
        post: operations["createGlobalCustomField"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/custom-fields/global/{field_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Change a global custom field; omitted fields stay, the name cannot change
         * @description Needs the permission `custom_fields:write`.
         */
        put: operations["updateGlobalCustomField"];
        post?: never;
        /**
         * Delete a global custom field; stored values of subscribers stay
         * @description Needs the permission `custom_fields:write`.
         */
        delete: operations["deleteGlobalCustomField"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/segments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Segments of all lists, newest first
         * @description Needs the permission `segments:read`.
         */
        get: operations["listSegments"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailing-lists/{id}/segments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The segments of a list, newest first
         * @description Needs the permission `segments:read`.
         */
        get: operations["listSegmentsOfList"];
        put?: never;
        /**
         * Save conditions as a segment of a list
         * @description Needs the permission `segments:write`.
         */
        post: operations["createSegment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailing-lists/{id}/segments/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Count the people who meet conditions, without saving them
         * @description Needs the permission `segments:read`.
         */
        post: operations["previewSegment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailing-lists/{id}/segments/{segment_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One segment
         * @description Needs the permission `segments:read`.
         */
        get: operations["getSegment"];
        /**
         * Change a segment; omitted fields stay
         * @description Needs the permission `segments:write`.
         */
        put: operations["updateSegment"];
        post?: never;
        /**
         * Delete a segment; its members do not change
         * @description Needs the permission `segments:write`.
         */
        delete: operations["deleteSegment"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mailing-lists/{id}/segments/{segment_id}/subscribers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The subscribers in a segment now, newest person first
         * @description Needs the permission `subscribers:read`.
         */
        get: operations["listSegmentMembers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subscribers/{id}/segments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The segments that a person is in now
         * @description Needs the permission `segments:read`.
         */
        get: operations["listSegmentsOfSubscriber"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/suppression-lists": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Suppression lists, newest first; the list of bounces and complaints is always there
         * @description Needs the permission `suppression_lists:read`.
         */
        get: operations["listSuppressionLists"];
        put?: never;
        /**
         * Create a suppression list
         * @description Needs the permission `suppression_lists:write`.
         */
        post: operations["createSuppressionList"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/suppression-lists/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One suppression list
         * @description Needs the permission `suppression_lists:read`.
         */
        get: operations["getSuppressionList"];
        /**
         * Change a suppression list; omitted fields stay
         * @description Needs the permission `suppression_lists:write`.
         */
        put: operations["updateSuppressionList"];
        post?: never;
        /**
         * Delete a suppression list with its entries
         * @description Needs the permission `suppression_lists:write`.
         */
        delete: operations["deleteSuppressionList"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/suppression-lists/{id}/entries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Up to 1000 entries of a list, newest first; null when there are none
         * @description Needs the permission `suppression_lists:read`.
         */
        get: operations["listSuppressionEntries"];
        put?: never;
        /**
         * Add addresses and domains to a list, one a line
         * @description Needs the permission `suppression_lists:write`.
         */
        post: operations["addSuppressionEntries"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/suppression-lists/{id}/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add the addresses and domains of a file to a list, all or nothing
         * @description Needs the permission `suppression_lists:write`.
         */
        post: operations["importSuppressionEntries"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/suppression-lists/{id}/entries/{entry_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove an entry from a list
         * @description Needs the permission `suppression_lists:write`.
         */
        delete: operations["deleteSuppressionEntry"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/suppression-lists/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check whether a list suppresses an address or domain
         * @description Needs the permission `suppression_lists:read`.
         */
        post: operations["testSuppression"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sending-domains": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the sending domains, newest first
         * @description Needs the permission `sending_domains:read`.
         */
        get: operations["listSendingDomains"];
        put?: never;
        /**
         * Add a sending domain, and generate its DKIM key
         * @description Needs the permission `sending_domains:write`.
         */
        post: operations["createSendingDomain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sending-domains/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a sending domain that no scheduled or sending campaign needs, and destroy its DKIM keys
         * @description Needs the permission `sending_domains:write`.
         */
        delete: operations["deleteSendingDomain"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sending-domains/{id}/dns-status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the DNS records to publish and what is published now
         * @description Needs the permission `sending_domains:read`.
         */
        get: operations["getSendingDomainDnsStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sending-domains/{id}/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check the DNS now and update every flag
         * @description Needs the permission `sending_domains:write`.
         */
        post: operations["verifySendingDomain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sending-domains/{id}/custom-return-path": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Switch the domain's own return path on or off; it is used once its record is verified
         * @description Needs the permission `sending_domains:write`.
         */
        patch: operations["setCustomReturnPath"];
        trace?: never;
    };
    "/sending-domains/{id}/dmarc-ingestion": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Switch the collection of the domain's DMARC reports on or off
         * @description Needs the permission `sending_domains:write`.
         */
        patch: operations["setDmarcIngestion"];
        trace?: never;
    };
    "/verified-senders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the verified senders, newest first
         * @description Needs the permission `verified_senders:read`.
         */
        get: operations["listVerifiedSenders"];
        put?: never;
        /**
         * Add a sender address and mail it a confirmation link
         * @description Needs the permission `verified_senders:write`.
         */
        post: operations["createVerifiedSender"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/verified-senders/{id}/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mail a new confirmation link, at most once a minute; older links stop working
         * @description Needs the permission `verified_senders:write`.
         */
        post: operations["resendVerifiedSenderLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/verified-senders/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a verified sender that no scheduled or sending campaign needs
         * @description Needs the permission `verified_senders:write`.
         */
        delete: operations["deleteVerifiedSender"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/dkims": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the DKIM keys, newest first
         * @description Needs the permission `dkims:read`.
         */
        get: operations["listDkimKeys"];
        put?: never;
        /**
         * Generate a DKIM key for a sending domain
         * @description Needs the permission `dkims:write`.
         */
        post: operations["createDkimKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/dkims/{id}/verify-dns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check that the published record matches the key
         * @description Needs the permission `dkims:write`.
         */
        post: operations["verifyDkimKeyDns"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/dkims/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a DKIM key; the only key of a verified domain cannot be deleted
         * @description Needs the permission `dkims:write`.
         */
        delete: operations["deleteDkimKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tracking-domains": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the tracking domains, newest first
         * @description Needs the permission `tracking_domains:read`.
         */
        get: operations["listTrackingDomains"];
        put?: never;
        /**
         * Add a tracking domain
         * @description Needs the permission `tracking_domains:write`.
         */
        post: operations["createTrackingDomain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tracking-domains/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One tracking domain
         * @description Needs the permission `tracking_domains:read`.
         */
        get: operations["getTrackingDomain"];
        /**
         * Rename a tracking domain; the new name has to be verified
         * @description Needs the permission `tracking_domains:write`.
         */
        put: operations["updateTrackingDomain"];
        post?: never;
        /**
         * Delete a tracking domain; links in sent mail work as long as its DNS record exists
         * @description Needs the permission `tracking_domains:write`.
         */
        delete: operations["deleteTrackingDomain"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tracking-domains/{id}/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Look for the CNAME record now
         * @description Needs the permission `tracking_domains:write`.
         */
        post: operations["verifyTrackingDomain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sending-ips": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the sending IPs with the state of their warm-up, newest first
         * @description Needs the permission `sending_ips:read`.
         */
        get: operations["listSendingIps"];
        put?: never;
        /**
         * Claim an address of the delivery machines for this workspace
         * @description Needs the permission `sending_ips:write`.
         */
        post: operations["createSendingIp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sending-ips/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One sending IP with the state of its warm-up
         * @description Needs the permission `sending_ips:read`.
         */
        get: operations["getSendingIp"];
        put?: never;
        post?: never;
        /**
         * Delete a sending IP; mail that waits for it leaves by the remaining rules
         * @description Needs the permission `sending_ips:write`.
         */
        delete: operations["deleteSendingIp"];
        options?: never;
        head?: never;
        /**
         * Change a sending IP, or switch its warm-up on or off; omitted fields stay
         * @description Needs the permission `sending_ips:write`.
         */
        patch: operations["updateSendingIp"];
        trace?: never;
    };
    "/routing-rules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the routing rules in the order in which they are tried
         * @description Needs the permission `routing_rules:read`.
         */
        get: operations["listRoutingRules"];
        put?: never;
        /**
         * Add a routing rule
         * @description Needs the permission `routing_rules:write`.
         */
        post: operations["createRoutingRule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/routing-rules/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One routing rule
         * @description Needs the permission `routing_rules:read`.
         */
        get: operations["getRoutingRule"];
        put?: never;
        post?: never;
        /**
         * Delete a routing rule that no scheduled or sending campaign names
         * @description Needs the permission `routing_rules:write`.
         */
        delete: operations["deleteRoutingRule"];
        options?: never;
        head?: never;
        /**
         * Change a routing rule; omitted fields stay, match and action are replaced as a whole
         * @description Needs the permission `routing_rules:write`.
         */
        patch: operations["updateRoutingRule"];
        trace?: never;
    };
    "/sending-domains/{id}/dmarc-reports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List DMARC reports about the domain, with totals by source
         * @description Needs the permission `sending_domains:read`.
         */
        get: operations["listDmarcReports"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sending-domains/{id}/tls-reports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List TLS reports (TLS-RPT): how often others could deliver to the domain over TLS
         * @description Needs the permission `sending_domains:read`.
         */
        get: operations["listTlsReports"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Campaigns with their counts and rates, newest first
         * @description Needs the permission `campaigns:read`.
         */
        get: operations["listCampaigns"];
        put?: never;
        /**
         * Create a campaign as a draft
         * @description Needs the permission `campaigns:write`.
         */
        post: operations["createCampaign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One campaign with its content, settings and counts
         * @description Needs the permission `campaigns:read`.
         */
        get: operations["getCampaign"];
        /**
         * Replace a draft; omitted fields return to their defaults
         * @description Needs the permission `campaigns:write`.
         */
        put: operations["replaceCampaign"];
        post?: never;
        /**
         * Delete a campaign that is not sending; its messages stay in the log
         * @description Needs the permission `campaigns:write`.
         */
        delete: operations["deleteCampaign"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/{id}/send": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a draft now, or at its scheduled time
         * @description Needs the permission `campaigns:send`.
         */
        post: operations["sendCampaign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause a sending campaign; messages being sent are finished, no others are sent
         * @description Needs the permission `campaigns:send`.
         */
        post: operations["pauseCampaign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a paused campaign where it stopped
         * @description Needs the permission `campaigns:send`.
         */
        post: operations["resumeCampaign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a campaign permanently; messages that were not sent are cancelled
         * @description Needs the permission `campaigns:send`.
         */
        post: operations["cancelCampaign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/{id}/unschedule": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Turn a scheduled campaign back into a draft
         * @description Needs the permission `campaigns:send`.
         */
        post: operations["unscheduleCampaign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/{id}/duplicate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Duplicate a campaign in any status as a new draft
         * @description Needs the permission `campaigns:write`.
         */
        post: operations["duplicateCampaign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test of the mail to a few addresses
         * @description Needs the permission `campaigns:send`.
         */
        post: operations["testCampaign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/{id}/activity": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Activity of a campaign since it was sent, hour by hour, cumulative
         * @description Needs the permission `campaigns:read`.
         */
        get: operations["getCampaignActivity"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/{id}/smtp-domain-stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Delivery results by recipient domain, largest first
         * @description Needs the permission `campaigns:read`.
         */
        get: operations["getCampaignDomainStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/{id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The messages of a campaign with their status
         * @description Needs the permission `campaigns:read`.
         */
        get: operations["listCampaignMessages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/{id}/recent-activity": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Recent activity of recipients, newest first
         * @description Needs the permission `campaigns:read`.
         */
        get: operations["listCampaignActivities"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/{id}/links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The tracked links of a campaign with their clicks
         * @description Needs the permission `campaigns:read`.
         */
        get: operations["listCampaignLinks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/autoresponders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Autoresponders with their counts, newest first
         * @description Needs the permission `autoresponders:read`.
         */
        get: operations["listAutoresponders"];
        put?: never;
        /**
         * Create an autoresponder; it is inactive
         * @description Needs the permission `autoresponders:write`.
         */
        post: operations["createAutoresponder"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/autoresponders/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One autoresponder with its steps
         * @description Needs the permission `autoresponders:read`.
         */
        get: operations["getAutoresponder"];
        /**
         * Replace an autoresponder, active or not; omitted fields return to their defaults
         * @description Needs the permission `autoresponders:write`.
         */
        put: operations["replaceAutoresponder"];
        post?: never;
        /**
         * Delete an autoresponder; its queued mail is cancelled, its sent mail stays in the log
         * @description Needs the permission `autoresponders:write`.
         */
        delete: operations["deleteAutoresponder"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/autoresponders/{id}/activate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start or resume: people who join from now on get the series
         * @description Needs the permission `autoresponders:send`.
         */
        post: operations["activateAutoresponder"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/autoresponders/{id}/deactivate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop at once: messages being sent are finished, no others are sent
         * @description Needs the permission `autoresponders:send`.
         */
        post: operations["deactivateAutoresponder"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/emails/send": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send one transactional email to one recipient
         * @description Needs the permission `emails:send`.
         */
        post: operations["sendEmail"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/blacklist/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check an IP address or a domain against all blacklists now
         * @description Needs the permission `blacklist:write`.
         */
        post: operations["checkBlacklists"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/blacklist/monitors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the monitors, newest first
         * @description Needs the permission `blacklist:read`.
         */
        get: operations["listBlacklistMonitors"];
        put?: never;
        /**
         * Create a monitor for an IP address or a domain, at most 1000 per workspace; it runs within a minute
         * @description Needs the permission `blacklist:write`.
         */
        post: operations["createBlacklistMonitor"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/blacklist/monitors/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a monitor
         * @description Needs the permission `blacklist:read`.
         */
        get: operations["getBlacklistMonitor"];
        put?: never;
        post?: never;
        /**
         * Delete a monitor; its history is kept
         * @description Needs the permission `blacklist:write`.
         */
        delete: operations["deleteBlacklistMonitor"];
        options?: never;
        head?: never;
        /**
         * Change a monitor's frequency or notices, or pause or resume it
         * @description Needs the permission `blacklist:write`.
         */
        patch: operations["updateBlacklistMonitor"];
        trace?: never;
    };
    "/blacklist/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the checks of the last 400 days, newest first
         * @description Needs the permission `blacklist:read`.
         */
        get: operations["listBlacklistHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/validations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Validate one address
         * @description Needs the permission `validations:write`.
         */
        post: operations["validateEmail"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/validations/bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Validate the addresses of a file in the background
         * @description Needs the permission `validations:write`.
         */
        post: operations["validateFile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/validations/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List validated addresses, newest first
         * @description Needs the permission `validations:read`.
         */
        get: operations["listValidations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/validations/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the usage of this hour and this month
         * @description Needs the permission `validations:read`.
         */
        get: operations["getValidationUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/validations/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count results by status, in total and by day
         * @description Needs the permission `validations:read`.
         */
        get: operations["getValidationStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Message log across all channels, newest first
         * @description Needs the permission `reports:read`.
         */
        get: operations["listMessages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/messages/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One message with the timeline of its attempts and the replies they got
         * @description Needs the permission `reports:read`.
         */
        get: operations["getMessage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/bounces": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Bounces of all time, newest first
         * @description Needs the permission `reports:read`.
         */
        get: operations["listBounces"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/complaints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Complaints of all time, newest first
         * @description Needs the permission `reports:read`.
         */
        get: operations["listComplaints"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/bounces-complaints/dashboard": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Bounces and complaints at a glance: totals, rates, trends, where they come from
         * @description Needs the permission `reports:read`.
         */
        get: operations["getBouncesComplaints"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/dashboard": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Figures of this month, and the setup checklist
         * @description Needs the permission `reports:read`.
         */
        get: operations["getDashboard"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/stats/chart": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Daily delivery figures, every day present; the last 30 days by default
         * @description Needs the permission `reports:read`.
         */
        get: operations["getSendingChart"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/stats/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Sending health: bounces and complaints of the last 30 days against their limits
         * @description Needs the permission `reports:read`.
         */
        get: operations["getSendingHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/stats/campaigns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Results of each campaign's messages, newest first
         * @description Needs the permission `reports:read`.
         */
        get: operations["listCampaignStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/stats/autoresponders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Results of each autoresponder's messages, newest first
         * @description Needs the permission `reports:read`.
         */
        get: operations["listAutoresponderStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/stats/smtp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Results of the messages that each API key sent by SMTP submission
         * @description Needs the permission `reports:read`.
         */
        get: operations["listSmtpStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/stats/api": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Results of the messages that each API key sent over the API
         * @description Needs the permission `reports:read`.
         */
        get: operations["listApiStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/deliverability": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Rates, reputation of sending addresses and domains, and bounces by cause
         * @description Needs the permission `reports:read`.
         */
        get: operations["getDeliverability"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/deliverability/recipient-domains": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Results by recipient domain, most messages first
         * @description Needs the permission `reports:read`.
         */
        get: operations["listRecipientDomains"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the background jobs that the key can see, newest first
         * @description Needs the permission `jobs:read`.
         */
        get: operations["listJobs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs/{job_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a job and its progress
         * @description Needs the permission `jobs:read`.
         */
        get: operations["getJob"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs/{job_id}/download": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download the result file of a job, available for seven days
         * @description Needs the permission `jobs:read`.
         */
        get: operations["downloadJobResult"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs/{job_id}/errors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download the rows that a job rejected with their reasons, available for seven days
         * @description Needs the permission `jobs:read`.
         */
        get: operations["downloadJobErrors"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs/{job_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a job: at once if it waits, within seconds if it runs
         * @description Needs the permission `jobs:write`.
         */
        post: operations["cancelJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the webhooks, newest first
         * @description Needs the permission `webhooks:read`.
         */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Create a webhook; its secret is shown only in this answer
         * @description Needs the permission `webhooks:write`.
         */
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a webhook
         * @description Needs the permission `webhooks:read`.
         */
        get: operations["getWebhook"];
        put?: never;
        post?: never;
        /**
         * Delete a webhook with all of its deliveries
         * @description Needs the permission `webhooks:write`.
         */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        /**
         * Change a webhook, or switch it on or off; omitted fields stay unchanged
         * @description Needs the permission `webhooks:write`.
         */
        patch: operations["updateWebhook"];
        trace?: never;
    };
    "/webhooks/{id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate the secret of a webhook; for 24 hours the old one signs, too
         * @description Needs the permission `webhooks:write`.
         */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a webhook.test event to a webhook, at most ten times a minute
         * @description Needs the permission `webhooks:write`.
         */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the deliveries of a webhook, newest first, up to 10,000
         * @description Needs the permission `webhooks:read`.
         */
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/deliveries/{delivery_id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Deliver again now, with the same webhook-id and all retries
         * @description Needs the permission `webhooks:write`.
         */
        post: operations["replayWebhookDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Failure: {
            /** @constant */
            success: false;
            /** @description Message for people; do not parse it. */
            error: string;
            /** @enum {unknown} */
            code: "VALIDATION_ERROR" | "BAD_REQUEST" | "UNAUTHORIZED" | "PLAN_LIMIT_REACHED" | "INSUFFICIENT_BALANCE" | "FORBIDDEN" | "INSUFFICIENT_SCOPE" | "EMAIL_NOT_VERIFIED" | "SECOND_FACTOR_REQUIRED" | "REAUTHENTICATION_REQUIRED" | "SERVICE_SUSPENDED" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "CONFLICT" | "PAYLOAD_TOO_LARGE" | "RATE_LIMIT_EXCEEDED" | "INTERNAL_ERROR";
            /** @description The invalid fields. */
            details?: {
                field: string;
                message: string;
            }[];
            /** @description With INSUFFICIENT_SCOPE: the permissions that the key lacks. */
            required_scopes?: string[];
        };
        /** @description Unknown fields and query parameters of the request, which were ignored. Absent if there are none. */
        IgnoredNames: {
            field: string;
            message: string;
        }[];
        ApiKey: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @description Values from the permission catalogue. */
            permissions: string[];
            /** @description First characters of the secret, to tell keys apart. */
            key_prefix: string;
            /** @description false after deactivation. */
            is_active: boolean;
            last_used_at: string | null;
            expires_at: string | null;
            /** Format: date-time */
            created_at: string;
        };
        PermissionGrant: {
            action: string;
            label: string;
            /** @description Send this verbatim in `permissions`. */
            value: string;
        };
        PermissionResource: {
            resource: string;
            label: string;
            group: string;
            /** @description Grants every action on the resource. */
            wildcard: string;
            /** @description Paths the resource governs, sorted. */
            covers: string[];
            actions: components["schemas"]["PermissionGrant"][];
        };
        PermissionCatalogue: {
            resources: components["schemas"]["PermissionResource"][];
            wildcards: components["schemas"]["PermissionGrant"][];
            presets: {
                preset: string;
                label: string;
                values: string[];
            }[];
        };
        NewApiKey: {
            name: string;
            /** @description Values from the catalogue. */
            permissions: string[];
            /** @description ISO 8601, in the future; null or absent: never. */
            expires_at?: string | null;
        };
        IssuedApiKey: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @description Values from the permission catalogue. */
            permissions: string[];
            /** @description First characters of the secret, to tell keys apart. */
            key_prefix: string;
            /** @description false after deactivation. */
            is_active: boolean;
            last_used_at: string | null;
            expires_at: string | null;
            /** Format: date-time */
            created_at: string;
            /** @description The secret; never shown again. */
            key: string;
        };
        ApiKeyChanges: {
            name?: string;
            /** @description Values from the catalogue. */
            permissions?: string[];
            /** @description ISO 8601, in the future; null or absent: never. */
            expires_at?: string | null;
        };
        Deleted: {
            /** Format: uuid */
            id: string;
            /** @constant */
            deleted: true;
        };
        BillingOverview: {
            /** @description US dollars, an exact decimal. */
            balance: string;
            /** @constant */
            currency: "USD";
            plan: {
                /** @enum {unknown} */
                id: "free" | "growth" | "scale" | "enterprise";
                name: string;
            };
            subscription_status: ("active" | "past_due" | "suspended") | null;
            /** @description Null is no limit. */
            email_allowance: number | null;
            emails_used: number;
            /** @description Null is no limit. */
            emails_remaining: number | null;
            /** Format: date-time */
            period_start: string;
            /** Format: date-time */
            period_end: string;
            /** @description Storage in use: bytes of message contents, drafts and job files; and rows. */
            storage: {
                bytes: {
                    used: number;
                    /** @description Null is no limit. */
                    limit: number | null;
                };
                subscribers: {
                    used: number;
                    /** @description Null is no limit. */
                    limit: number | null;
                };
                suppression_entries: {
                    used: number;
                    /** @description Null is no limit. */
                    limit: number | null;
                };
            };
            /** @description Whether the balance of a paying workspace is nearly used up. */
            low_balance: boolean;
        };
        Plan: {
            /** @enum {unknown} */
            id: "free" | "growth" | "scale" | "enterprise";
            name: string;
            description: string;
            /** @description US dollars, an exact decimal. */
            price_monthly: string | null;
            /** @description US dollars, an exact decimal. */
            price_yearly: string | null;
            /** @constant */
            currency: "USD";
            billing_intervals: ("monthly" | "yearly")[];
            /** @description Null is no limit. */
            email_allowance: number | null;
            /** @description Null is no limit. */
            validation_allowance: number | null;
            /** @description Null is no limit. */
            blacklist_check_allowance: number | null;
            /** @description US dollars, an exact decimal. */
            overage_rate: string | null;
            storage: {
                /** @description Null is no limit. */
                bytes: number | null;
                /** @description Null is no limit. */
                subscribers: number | null;
                /** @description Null is no limit. */
                suppression_entries: number | null;
            };
            /** @description Whether sending stops at the allowance until the workspace has a balance. */
            hard_stop: boolean;
            /** @description By agreement with the operator; cannot be subscribed to over the API. */
            is_custom: boolean;
            features: string[];
        };
        BillingUsage: {
            /** @description US dollars, an exact decimal. */
            balance: string;
            plan: components["schemas"]["Plan"];
            this_month: {
                /** @description US dollars, an exact decimal. */
                email: string;
                /** @description US dollars, an exact decimal. */
                validation: string;
                /** @description US dollars, an exact decimal. */
                subscription: string;
            };
            recent_charges: {
                /** Format: uuid */
                id: string;
                /** @enum {unknown} */
                transaction_type: "topup" | "subscription" | "usage" | "refund" | "adjustment";
                description: string;
                quantity: number | null;
                /** @description US dollars, an exact decimal. */
                unit_rate: string | null;
                /** @description US dollars, an exact decimal. */
                amount: string;
                /** Format: date-time */
                created_at: string;
            }[];
        };
        Subscription: {
            /** @enum {unknown} */
            plan_id: "free" | "growth" | "scale" | "enterprise";
            /**
             * @description canceled: only in the answer to a cancellation that ends it at once.
             * @enum {unknown}
             */
            status: "active" | "past_due" | "suspended" | "canceled";
            /** @enum {unknown} */
            billing_interval: "monthly" | "yearly";
            /** Format: date-time */
            current_period_start: string;
            /** Format: date-time */
            current_period_end: string;
            cancel_at_period_end: boolean;
            past_due_since: string | null;
            plan: components["schemas"]["Plan"];
        };
        SubscriptionInput: {
            /** @enum {unknown} */
            plan_id: "free" | "growth" | "scale" | "enterprise";
            /**
             * @description Omitted: unchanged, or monthly for a new subscription.
             * @enum {unknown}
             */
            billing_interval?: "monthly" | "yearly";
        };
        Transaction: {
            /** Format: uuid */
            id: string;
            gateway: ("stripe" | "manual") | null;
            /** @enum {unknown} */
            transaction_type: "topup" | "subscription" | "usage" | "refund" | "adjustment";
            /** @description Signed: positive amounts add to the balance. */
            amount: string;
            currency: string;
            /** @enum {unknown} */
            status: "pending" | "completed" | "failed";
            /** @description Null until completed. */
            receipt_number: string | null;
            description: string;
            /** Format: date-time */
            created_at: string;
        };
        Pagination: {
            page: number;
            limit: number;
            total: number;
            /** @description 0 if there are no rows. */
            total_pages: number;
            /** @description Value for `after`, if the call accepts it; null if there are no more rows. */
            next_cursor?: string | null;
        };
        TopUpInput: {
            /** @description US dollars with at most two places, such as 25.00. */
            amount: string;
        };
        TopUp: {
            transaction: components["schemas"]["Transaction"];
            /** @description The page where a person pays, within 23 hours. */
            checkout_url: string;
        };
        MailingList: {
            /** Format: uuid */
            id: string;
            name: string;
            description: string;
            /** @description Of mail to the list that names none. */
            from_name: string | null;
            /** @description Kept to be offered as sender; a campaign names its own, which is checked. */
            from_email: string | null;
            /** @description Reply-To of mail to the list that names none. */
            reply_to_email: string | null;
            /**
             * @description A label; no mail is sent because of it.
             * @enum {unknown}
             */
            opt_in_type: "single" | "double" | "api" | "import";
            /** @description Default of campaigns to the list. */
            enable_open_tracking: boolean;
            /** @description Default of campaigns to the list. */
            enable_click_tracking: boolean;
            /** @description Active members. */
            subscriber_count: number;
            /** @description Members of any status. */
            total_subscribers: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        NewMailingList: {
            name: string;
            description?: string;
            /** @description Of mail to the list that names none. */
            from_name?: string | null;
            /** @description Kept to be offered as sender; a campaign names its own, which is checked. */
            from_email?: string | null;
            /** @description Reply-To of mail to the list that names none. */
            reply_to_email?: string | null;
            /**
             * @description A label; no mail is sent because of it.
             * @enum {unknown}
             */
            opt_in_type?: "single" | "double" | "api" | "import";
            /** @description Default of campaigns to the list. */
            enable_open_tracking?: boolean;
            /** @description Default of campaigns to the list. */
            enable_click_tracking?: boolean;
        };
        LastCampaign: {
            /** Format: uuid */
            id: string;
            name: string;
            subject: string;
            status: string;
            sent_at: string | null;
            /** @description Fraction of the delivered, 0 to 1. */
            open_rate: number;
            /** @description Fraction of the delivered, 0 to 1. */
            click_rate: number;
        };
        MailingListStats: {
            /**
             * Format: uuid
             * @description Id of the mailing list.
             */
            id: string;
            /** @description People who became active, for the first time or again. */
            new_subscribers: number;
            unsubscribed: number;
            /** @description New subscribers minus those who unsubscribed, bounced or complained. */
            net_growth: number;
            /** @description Fraction of the delivered, opened or clicked by a person, 0 to 1. */
            engagement_rate: number;
            /** @description Fraction of the sent, 0 to 1. */
            bounce_rate: number;
            /** @description Fraction of the delivered, 0 to 1. */
            complaint_rate: number;
            /** @description 0 to 100; 100 while nothing was sent. */
            health_score: number;
            /** @description One entry a day, the oldest first. */
            sparkline: {
                /** Format: date */
                date: string;
                /** @description Net growth. */
                value: number;
            }[];
            last_campaign: components["schemas"]["LastCampaign"] | null;
        };
        MailingListChanges: {
            name?: string;
            description?: string;
            /** @description Of mail to the list that names none. */
            from_name?: string | null;
            /** @description Kept to be offered as sender; a campaign names its own, which is checked. */
            from_email?: string | null;
            /** @description Reply-To of mail to the list that names none. */
            reply_to_email?: string | null;
            /**
             * @description A label; no mail is sent because of it.
             * @enum {unknown}
             */
            opt_in_type?: "single" | "double" | "api" | "import";
            /** @description Default of campaigns to the list. */
            enable_open_tracking?: boolean;
            /** @description Default of campaigns to the list. */
            enable_click_tracking?: boolean;
        };
        SignupForm: {
            /** Format: uuid */
            mailing_list_id: string;
            /** @description Whether the form is open. */
            is_active: boolean;
            /** @description URL of its public page. A form on your own site may POST `email`, `first_name` and `last_name` there: the page opens filled in, for one more press of its button. */
            url: string | null;
            /** @description Set while the form is abused, and for a day after. */
            abuse: {
                /** Format: date-time */
                since: string;
                /**
                 * @description Whose limit was reached last: that of several networks (or of one, again and again), of the list, or of the workspace.
                 * @enum {unknown}
                 */
                reason: "network" | "list" | "workspace";
                /** @description Sign-ups that were refused at a limit. */
                refused_last_hour: number;
            } | null;
        };
        SignupFormInput: {
            is_active: boolean;
        };
        Member: {
            /**
             * Format: uuid
             * @description Id of the membership; paths take the subscriber_id.
             */
            id: string;
            /** Format: uuid */
            subscriber_id: string;
            /** Format: uuid */
            mailing_list_id: string;
            email: string;
            first_name: string | null;
            last_name: string | null;
            /** @enum {unknown} */
            status: "active" | "unsubscribed" | "bounced" | "complained";
            /** @description Where the membership came from. */
            source: string | null;
            /** @description A JSON object as text. */
            custom_fields: string;
            /** Format: date-time */
            subscribed_at: string;
            unsubscribed_at: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        NewMemberInput: {
            /** @description Never changes afterwards. */
            email: string;
            first_name?: string | null;
            last_name?: string | null;
            /** @description Where the person comes from; `api` when omitted. */
            source?: string | null;
            /**
             * @description `active` when omitted, unless the person bounced or complained.
             * @enum {unknown}
             */
            status?: "active" | "unsubscribed" | "bounced" | "complained";
            /** @description An object of values by field_name, also as JSON text. */
            custom_fields?: unknown;
        };
        MemberWithWarnings: {
            /**
             * Format: uuid
             * @description Id of the membership; paths take the subscriber_id.
             */
            id: string;
            /** Format: uuid */
            subscriber_id: string;
            /** Format: uuid */
            mailing_list_id: string;
            email: string;
            first_name: string | null;
            last_name: string | null;
            /** @enum {unknown} */
            status: "active" | "unsubscribed" | "bounced" | "complained";
            /** @description Where the membership came from. */
            source: string | null;
            /** @description A JSON object as text. */
            custom_fields: string;
            /** Format: date-time */
            subscribed_at: string;
            unsubscribed_at: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /** @description Why mail will not reach this person: `bounced`, `complained`, `suppressed`. */
            warnings: string[];
        };
        DeletedCount: {
            deleted: number;
        };
        MemberChanges: {
            /** @description Cannot change: must be the stored address. */
            email?: string;
            first_name?: string | null;
            last_name?: string | null;
            /** @enum {unknown} */
            status?: "active" | "unsubscribed" | "bounced" | "complained";
            /** @description An object of values by field_name, also as JSON text. */
            custom_fields?: unknown;
        };
        SubscriberStatusInput: {
            /** @enum {unknown} */
            status: "active" | "unsubscribed" | "bounced" | "complained";
        };
        SubscriberSummary: {
            /** Format: uuid */
            id: string;
            email: string;
            first_name: string | null;
            last_name: string | null;
            /**
             * @description The worst of all lists: complained, bounced, active (if on any), unsubscribed.
             * @enum {unknown}
             */
            status: "active" | "unsubscribed" | "bounced" | "complained";
            /** @description Values by field_name. */
            custom_fields: {
                [key: string]: unknown;
            };
            lists: {
                /** Format: uuid */
                id: string;
                name: string;
                /** @enum {unknown} */
                status: "active" | "unsubscribed" | "bounced" | "complained";
            }[];
            list_count: number;
            /** @description 0 to 100. */
            engagement_score: number;
            /** @description Last open or click. */
            last_activity_at: string | null;
            /** Format: date-time */
            created_at: string;
        };
        SubscriberStats: {
            /** @description Messages attempted at least once, with any result. */
            sent: number;
            delivered: number;
            bounced: number;
            complained: number;
            /** @description Lists the person has left. */
            unsubscribed: number;
            opens: number;
            /** @description Messages opened or clicked in. */
            unique_opens: number;
            clicks: number;
            /** @description Messages clicked in. */
            unique_clicks: number;
            /** @description Fraction of the delivered, 0 to 1. */
            open_rate: number;
            /** @description Fraction of the delivered, 0 to 1. */
            click_rate: number;
            first_sent_at: string | null;
            last_sent_at: string | null;
            /** @description A click is an opening too. */
            last_opened_at: string | null;
            last_clicked_at: string | null;
        };
        SubscriberActivity: {
            /** Format: uuid */
            id: string;
            /** @description `sent`: the recipient's server took the message. */
            type: string;
            description: string;
            /** @description Number of times, if it happened more than once at the same moment. */
            times: number;
            /** @description Null: mail of an autoresponder. */
            campaign_id: string | null;
            campaign_name: string | null;
            message_id: string | null;
            /** Format: date-time */
            timestamp: string;
        };
        SubscriberBounce: {
            /** Format: uuid */
            id: string;
            bounce_type: string;
            category: string;
            smtp_code: number | null;
            enhanced_code: string | null;
            error_message: string | null;
            message_id: string | null;
            campaign_id: string | null;
            /** Format: date-time */
            created_at: string;
        };
        SubscriberSuppression: {
            /** Format: uuid */
            suppression_list_id: string;
            suppression_list_name: string;
            /** @description `global`, or what mail the list keeps away: `mailing_list`, `segment`. */
            suppression_scope: string;
            reason: string;
            /** Format: date-time */
            created_at: string;
        };
        SubscriberDetail: {
            /** Format: uuid */
            id: string;
            email: string;
            first_name: string | null;
            last_name: string | null;
            source: string | null;
            /** @enum {unknown} */
            status: "active" | "unsubscribed" | "bounced" | "complained";
            /** @description Values by field_name. */
            custom_fields: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            lists: {
                /** Format: uuid */
                mailing_list_id: string;
                name: string;
                /** @enum {unknown} */
                status: "active" | "unsubscribed" | "bounced" | "complained";
                source: string | null;
                /** Format: date-time */
                subscribed_at: string;
                unsubscribed_at: string | null;
            }[];
            stats: components["schemas"]["SubscriberStats"];
            /** @description 0 to 100. */
            engagement_score: number;
            /** @description With mail of campaigns and autoresponders, as the stats are. Newest first. */
            recent_activity: components["schemas"]["SubscriberActivity"][];
            /** @description Of mail of campaigns and autoresponders; GET /bounces has those of all mail. Newest first. */
            bounces: components["schemas"]["SubscriberBounce"][];
            /** @description Lists that keep mail from this person. */
            suppressions: components["schemas"]["SubscriberSuppression"][];
        };
        SubscriberImport: {
            /**
             * Format: binary
             * @description CSV with a header row that has an Email column; First, Last, Status and Source are optional, other columns are custom fields by name or label. At most 50 MB and 1,000,000 rows.
             */
            csvFile: Upload;
            /**
             * @description Whether names and custom fields of the file replace stored ones. If false, those of members stay (a worse status in the file is still set), and known people who join the list only get the values they lack.
             * @default true
             */
            update_existing?: boolean;
            /**
             * @description Whether members who unsubscribed become active again if the file says active, or nothing.
             * @default false
             */
            resubscribe?: boolean;
            /**
             * @description Whether the list's autoresponders start for people who join by this import.
             * @default false
             */
            trigger_autoresponders?: boolean;
            /** @description Encoding of the file, such as utf-8, windows-1252 or shift_jis. If omitted, UTF-8 is detected and any other encoding is guessed. */
            encoding?: string;
            /** @description Format of the dates in the file: DMY, MDY, YMD or YDM (also as a pattern such as DD/MM/YYYY), excel or excel1904 for the serial numbers of a spreadsheet, unix for seconds or milliseconds since 1970. If omitted, a date such as 03/04/2019 is refused, unless other dates of the file show which part is the day. */
            date_format?: string;
            /**
             * @description The status of all people in the file, unless their rows have a worse one.
             * @enum {unknown}
             */
            status?: "active" | "unsubscribed" | "bounced" | "complained";
            /** @description The column that says who gets no mail, instead of columns found by their names. May be repeated; the worst status counts. `ignore` for none. */
            opt_out_column?: string[];
        };
        /** @description Follow the job at /jobs/{job_id}. */
        ImportStarted: {
            /** Format: uuid */
            job_id: string;
            /** @constant */
            status: "pending";
            /** @description Whether the job only reports what the import would do. */
            dry_run: boolean;
        };
        SubscriberExport: {
            /** @description Only those in this state. */
            status?: ("active" | "unsubscribed" | "bounced" | "complained") | null;
            /** @description Only those whom this search finds. */
            search?: string | null;
            /** @description Only those in this segment of the list. */
            segment_id?: string | null;
            /** @description Custom fields by name, as columns behind the others; all of them when omitted. */
            fields?: string[] | null;
            format?: "csv" | null;
        };
        /** @description Follow the job at /jobs/{job_id}. */
        JobStarted: {
            /** Format: uuid */
            job_id: string;
            /** @constant */
            status: "pending";
        };
        CustomFieldOption: {
            label: string;
            value: string;
        };
        CustomFieldRules: {
            /** @description Least number. */
            min?: number;
            /** @description Greatest number. */
            max?: number;
            /** @description Fewest characters of a text. */
            min_length?: number;
            /** @description Most characters of a text. */
            max_length?: number;
            /** @description Regular expression (RE2) to be found in the text. */
            pattern?: string;
        };
        CustomField: {
            /** Format: uuid */
            id: string;
            /** @description Null: a field of every list. */
            mailing_list_id: string | null;
            /** @description Lower-case letters, digits, underscores; never changes. */
            field_name: string;
            field_label: string;
            /** @enum {unknown} */
            field_type: "text" | "textarea" | "number" | "date" | "email" | "url" | "boolean" | "select" | "multiselect";
            /** @description Choices of select and multiselect. */
            field_options: (string | components["schemas"]["CustomFieldOption"])[] | null;
            placeholder: string | null;
            /** @description Given to people who are added without one; null for none. */
            default_value: unknown;
            help_text: string | null;
            validation_rules: components["schemas"]["CustomFieldRules"] | null;
            is_required: boolean;
            /** @description False: neither asked for nor checked. */
            is_active: boolean;
            display_order: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        NewCustomField: {
            /** @description Normalised: lower-case, blanks become underscores. */
            field_name: string;
            field_label: string;
            /** @enum {unknown} */
            field_type: "text" | "textarea" | "number" | "date" | "email" | "url" | "boolean" | "select" | "multiselect";
            /** @description Array of choices (texts, or { label, value }), also as JSON text. Required for select, multiselect. */
            field_options?: unknown;
            placeholder?: string | null;
            /** @description A value of the field's type; null for none. */
            default_value?: unknown;
            help_text?: string | null;
            /** @description { min, max } of a number, { min_length, max_length, pattern } of a text; also as JSON text. */
            validation_rules?: unknown;
            is_required?: boolean;
            is_active?: boolean;
            /** @description Last plus one when omitted. */
            display_order?: number;
        };
        CustomFieldChanges: {
            /** @description Must stay what it is. */
            field_name?: string;
            field_label?: string;
            /** @enum {unknown} */
            field_type?: "text" | "textarea" | "number" | "date" | "email" | "url" | "boolean" | "select" | "multiselect";
            /** @description Array of choices (texts, or { label, value }), also as JSON text. Required for select, multiselect. */
            field_options?: unknown;
            placeholder?: string | null;
            /** @description A value of the field's type; null for none. */
            default_value?: unknown;
            help_text?: string | null;
            /** @description { min, max } of a number, { min_length, max_length, pattern } of a text; also as JSON text. */
            validation_rules?: unknown;
            is_required?: boolean;
            is_active?: boolean;
            /** @description Last plus one when omitted. */
            display_order?: number;
        };
        SegmentConditions: {
            /** @enum {unknown} */
            logic: "and" | "or";
            /** @description Each a condition { field, operator, value }, or a group { logic, rules } of the same shape. */
            rules: {
                field?: unknown;
                operator?: unknown;
                value?: unknown;
                logic?: unknown;
                rules?: unknown;
            }[];
        };
        Segment: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            mailing_list_id: string;
            mailing_list_name: string;
            name: string;
            description: string;
            conditions: components["schemas"]["SegmentConditions"];
            /** @description Whether its count is kept fresh. It can be used either way. */
            is_active: boolean;
            /** @description At the last count; null when counting took too long. */
            subscriber_count: number | null;
            counted_at: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        NewSegment: {
            name: string;
            description?: string;
            conditions: components["schemas"]["SegmentConditions"];
            /** @description Whether its count is kept fresh. It can be used either way. */
            is_active?: boolean;
        };
        SegmentPreviewInput: {
            conditions: components["schemas"]["SegmentConditions"];
        };
        SegmentPreview: {
            /** @description Number of people who meet the conditions now. */
            subscriber_count: number;
        };
        SegmentChanges: {
            name?: string;
            description?: string;
            conditions?: components["schemas"]["SegmentConditions"];
            /** @description Whether its count is kept fresh. It can be used either way. */
            is_active?: boolean;
        };
        SegmentOfSubscriber: {
            /** Format: uuid */
            id: string;
            name: string;
            /** Format: uuid */
            mailing_list_id: string;
            mailing_list_name: string;
            is_active: boolean;
        };
        SuppressionList: {
            /** Format: uuid */
            id: string;
            name: string;
            description: string;
            /**
             * @description `global`: every message, transactional ones too. `mailing_list`: campaigns and autoresponders for that list. `segment`: campaigns to that segment.
             * @enum {unknown}
             */
            suppression_scope: "global" | "mailing_list" | "segment";
            /** @description Required by the scope `mailing_list`, null in every other. */
            mailing_list_id: string | null;
            /** @description Required by the scope `segment`, null in every other. */
            segment_id: string | null;
            /** @description An inactive list suppresses nothing. */
            is_active: boolean;
            mailing_list_name: string | null;
            segment_name: string | null;
            /** @description The list of bounces and complaints, managed by the service: it cannot be changed or deleted. */
            is_system: boolean;
            entry_count: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        NewSuppressionList: {
            name: string;
            description?: string;
            /**
             * @description `global`: every message, transactional ones too. `mailing_list`: campaigns and autoresponders for that list. `segment`: campaigns to that segment.
             * @enum {unknown}
             */
            suppression_scope?: "global" | "mailing_list" | "segment";
            /** @description Required by the scope `mailing_list`, null in every other. */
            mailing_list_id?: string | null;
            /** @description Required by the scope `segment`, null in every other. */
            segment_id?: string | null;
            /** @description An inactive list suppresses nothing. */
            is_active?: boolean;
        };
        SuppressionListChanges: {
            name?: string;
            description?: string;
            /**
             * @description `global`: every message, transactional ones too. `mailing_list`: campaigns and autoresponders for that list. `segment`: campaigns to that segment.
             * @enum {unknown}
             */
            suppression_scope?: "global" | "mailing_list" | "segment";
            /** @description Required by the scope `mailing_list`, null in every other. */
            mailing_list_id?: string | null;
            /** @description Required by the scope `segment`, null in every other. */
            segment_id?: string | null;
            /** @description An inactive list suppresses nothing. */
            is_active?: boolean;
        };
        SuppressionEntry: {
            /** Format: uuid */
            id: string;
            /** @description As it was given. */
            entry_value: string;
            /**
             * @description A domain suppresses all its addresses.
             * @enum {unknown}
             */
            entry_type: "email" | "domain";
            /** @description What recipients are compared with. */
            normalized_value: string;
            /** @enum {unknown} */
            reason: "complaint" | "hard_bounce" | "manual" | "domain";
            /** @description The message that bounced or was complained about. */
            source_message_id: string | null;
            /** Format: date-time */
            created_at: string;
            /** @description Name of the API key, or `system`. */
            created_by: string;
        };
        NewSuppressionEntries: {
            /** @description Addresses and domains, one a line; commas and semicolons separate them, too. At most 10,000. */
            entries: string;
        };
        AddedEntries: {
            added: number;
            /** @description On the list already, or given more than once. */
            duplicates: number;
            /** @description Neither an address nor a domain; the others were added. */
            invalid: number;
            message: string;
            /** @description Warnings about how a file was read, such as a guessed encoding. */
            warnings?: string[];
        };
        SuppressionImport: {
            /**
             * Format: binary
             * @description CSV with a column `email`, `entry_value`, `address` or `domain`, else the column that holds addresses; or one a line.
             */
            csvFile: Upload;
            /** @description Encoding of the file, such as utf-8, windows-1252 or shift_jis. If omitted, UTF-8 is detected and any other encoding is guessed. */
            encoding?: string;
        };
        SuppressionQuestion: {
            /** @description An address, or a domain. */
            test_value: string;
        };
        SuppressionTest: {
            /** @description Whether this list suppresses the value. */
            suppressed: boolean;
            test_value: string;
            reason: ("complaint" | "hard_bounce" | "manual" | "domain") | null;
            list_name: string;
        };
        SendingDomain: {
            /** Format: uuid */
            id: string;
            /** @description Lower-case; international names as A-labels (punycode). */
            domain: string;
            /** @description Ownership is proved: mail may be sent from the domain. */
            is_verified: boolean;
            spf_verified: boolean;
            dkim_verified: boolean;
            dmarc_verified: boolean;
            verified_at: string | null;
            /** @description False: an administrator switched the domain off. */
            is_active: boolean;
            custom_return_path: boolean;
            return_path_verified: boolean;
            dmarc_ingestion: boolean;
            checked_at: string | null;
            /** Format: date-time */
            created_at: string;
        };
        SendingDomainInput: {
            /** @description For example `example.com`. */
            domain: string;
        };
        DnsCheck: {
            /**
             * @description `error`: the DNS look-up failed, so the result is unknown.
             * @enum {unknown}
             */
            status: "verified" | "missing" | "mismatch" | "error";
            /** @description The name that was looked up. */
            host: string;
            /** @enum {unknown} */
            type: "TXT" | "CNAME";
            /** @description The value to publish. */
            expected: string;
            /** @description What is published. */
            found: string[];
            /** @description The result, and what to do. */
            message: string;
        };
        SpfCheck: {
            /**
             * @description `error`: the DNS look-up failed, so the result is unknown.
             * @enum {unknown}
             */
            status: "verified" | "missing" | "mismatch" | "error";
            /** @description The name that was looked up. */
            host: string;
            /** @enum {unknown} */
            type: "TXT" | "CNAME";
            /** @description The value to publish. */
            expected: string;
            /** @description What is published. */
            found: string[];
            /** @description The result, and what to do. */
            message: string;
            /** @description DNS look-ups that evaluating the record takes; receivers stop at 10. */
            lookups: number;
        };
        DnsRecord: {
            /** @enum {unknown} */
            purpose: "ownership" | "spf" | "dkim" | "dmarc" | "return_path" | "dmarc_reports" | "tracking";
            /** @enum {unknown} */
            type: "TXT" | "CNAME";
            host: string;
            /** @description Includes what is already published when several services share one record. */
            value: string;
            /** @description Seconds. */
            ttl: number;
            /** @description Ownership is required for sending; the other required records keep mail out of spam folders. */
            required: boolean;
            /**
             * @description `error`: the DNS look-up failed, so the result is unknown.
             * @enum {unknown}
             */
            status: "verified" | "missing" | "mismatch" | "error";
        };
        DnsStatus: {
            /** Format: uuid */
            id: string;
            domain: string;
            /** @description Proves ownership. */
            verification_token: string;
            /** @description The domain to include in SPF. */
            platform_spf_domain: string;
            dns: {
                ownership: components["schemas"]["DnsCheck"];
                spf: components["schemas"]["SpfCheck"];
                dkim: components["schemas"]["DnsCheck"] | null;
                dmarc: components["schemas"]["DnsCheck"];
                return_path: components["schemas"]["DnsCheck"] | null;
                dmarc_reports: components["schemas"]["DnsCheck"] | null;
                /** @description The newest tracking domain below this domain. */
                tracking: components["schemas"]["DnsCheck"] | null;
                /** @description As published now; so are the next three. */
                ownership_verified: boolean;
                spf_verified: boolean;
                dkim_verified: boolean;
                dmarc_verified: boolean;
                dkim_selector: string | null;
                /** @description Base64, as in the p= tag. */
                dkim_public_key: string | null;
                /** @description The value to publish. */
                dkim_record: string | null;
                /** @description The value to publish; never weaker than what is published. */
                dmarc_suggested: string;
                /** @description The published value. */
                dmarc_record: string | null;
                records: components["schemas"]["DnsRecord"][];
            };
        };
        DomainDnsChecks: {
            ownership: components["schemas"]["DnsCheck"];
            spf: components["schemas"]["SpfCheck"];
            dkim: components["schemas"]["DnsCheck"] | null;
            dmarc: components["schemas"]["DnsCheck"];
            return_path: components["schemas"]["DnsCheck"] | null;
            dmarc_reports: components["schemas"]["DnsCheck"] | null;
        };
        DomainVerification: {
            ownership_verified: boolean;
            spf_verified: boolean;
            dkim_verified: boolean;
            dmarc_verified: boolean;
            return_path_verified: boolean;
            /** @description Ownership is proved: mail may be sent from the domain. */
            verified: boolean;
            checks: components["schemas"]["DomainDnsChecks"];
            /** @description Failed DNS look-ups; the flags of their checks are unchanged. */
            errors: string[];
        };
        Switch: {
            enabled: boolean;
        };
        VerifiedSender: {
            /** Format: uuid */
            id: string;
            /** @description Lower-case. */
            email: string;
            from_name: string;
            /** @description Whether its owner confirmed, so that mail may be sent as it. */
            is_verified: boolean;
            verified_at: string | null;
            /**
             * Format: date-time
             * @description When the newest link stops working.
             */
            token_expires_at: string;
            /** Format: date-time */
            created_at: string;
        };
        VerifiedSenderInput: {
            /** @description A bare address: `name@example.com`. */
            email: string;
            from_name?: string | null;
        };
        NewVerifiedSender: {
            /** Format: uuid */
            id: string;
            /** @description Lower-case. */
            email: string;
            from_name: string;
            /** @description Whether its owner confirmed, so that mail may be sent as it. */
            is_verified: boolean;
            verified_at: string | null;
            /**
             * Format: date-time
             * @description When the newest link stops working.
             */
            token_expires_at: string;
            /** Format: date-time */
            created_at: string;
            /** @description What will make mail from this address hard to deliver. */
            warnings: string[];
        };
        DkimKey: {
            /** Format: uuid */
            id: string;
            domain: string;
            selector: string;
            bits: number;
            /** @description Base64, as in the p= tag. */
            public_key: string;
            /** @description Created with its domain. */
            is_automatic: boolean;
            /** @description When its record was first seen. The newest verified key of a domain signs. */
            verified_at: string | null;
            /** Format: date-time */
            created_at: string;
        };
        DkimKeyInput: {
            /** @description A sending domain of the workspace. */
            domain: string;
            /**
             * @description Lower-case.
             * @default default
             */
            selector?: string;
            /**
             * @default 2048
             * @enum {unknown}
             */
            bits?: 1024 | 2048 | 4096;
        };
        NewDkimKey: {
            /** Format: uuid */
            id: string;
            domain: string;
            selector: string;
            bits: number;
            /** @description Base64, as in the p= tag. */
            public_key: string;
            /** @description Created with its domain. */
            is_automatic: boolean;
            /** @description When its record was first seen. The newest verified key of a domain signs. */
            verified_at: string | null;
            /** Format: date-time */
            created_at: string;
            dns_record: {
                /** @constant */
                type: "TXT";
                host: string;
                value: string;
            };
            dns_host: string;
            dns_value: string;
            warnings: string[];
        };
        DkimKeyVerification: {
            /** @description Unchanged when the DNS look-up failed. */
            verified: boolean;
            /**
             * @description `error`: the DNS look-up failed, so the result is unknown.
             * @enum {unknown}
             */
            status: "verified" | "missing" | "mismatch" | "error";
            /** @description The name that was looked up. */
            host: string;
            /** @description The value to publish. */
            expected: string;
            /** @description What is published. */
            found: string[];
            /** @description The result, and what to do. */
            message: string;
        };
        TrackingDomain: {
            /** Format: uuid */
            id: string;
            /** @description Lower-case; international names as A-labels (punycode). */
            domain: string;
            /** @description Its record points to this service. Checked daily; while it is false, links begin with the service's own address. */
            is_verified: boolean;
            /** @description The HTTPS error of the domain, as seen from this service; while it is set, links begin with the service's own address. */
            https_fault: string | null;
            verified_at: string | null;
            checked_at: string | null;
            /** @description The record to publish. */
            dns_record: {
                /** @constant */
                type: "CNAME";
                host: string;
                value: string;
            };
            /** Format: date-time */
            created_at: string;
        };
        TrackingDomainInput: {
            /** @description A name below a domain of yours, for example `links.example.com`. */
            domain: string;
        };
        TrackingDomainUpdate: {
            /** @description A name below a domain of yours, for example `links.example.com`. */
            domain?: string;
        };
        TrackingDomainVerification: {
            /** @description Unchanged when the DNS look-up failed. */
            verified: boolean;
            /**
             * @description `error`: the DNS look-up failed, so the result is unknown.
             * @enum {unknown}
             */
            status: "verified" | "missing" | "mismatch" | "error";
            /** @description The name that was looked up. */
            host: string;
            /** @description The value to publish. */
            expected: string;
            /** @description What is published. */
            found: string[];
            /** @description The result, and what to do. */
            message: string;
            /** @description The HTTPS error of the domain, as seen from this service; while it is set, links begin with the service's own address. */
            https_fault: string | null;
        };
        SendingIp: {
            /** Format: uuid */
            id: string;
            ip: string;
            /** @description EHLO name; it should also be the PTR record of the address. */
            hostname: string;
            pool: string | null;
            is_active: boolean;
            warm_up: {
                enabled: boolean;
                started_at: string | null;
                /** @description Day of the plan of the most advanced provider; null when the warm-up is off. */
                day: number | null;
                /** @description Messages of today to all providers in warm-up. */
                sent_today: number;
                /** @description Empty when the warm-up is off. */
                providers: {
                    /** @description Mailbox provider, as `match.providers` of routing rules has it. */
                    provider: string;
                    /** @description Day of the plan, from 1; days without mail do not count. */
                    day: number;
                    /** @description Messages today (UTC). */
                    ceiling: number;
                    sent_today: number;
                    /** @description Messages of today deferred because of our reputation; above 5 % the day is repeated. */
                    deferred_today: number;
                }[];
            };
            /** Format: date-time */
            created_at: string;
        };
        SendingIpInput: {
            /** @description IPv4 or IPv6. */
            ip: string;
            /** @description EHLO name. Omitted: that of the service. */
            hostname?: string | null;
            /** @description Routing rules may name it instead of an address. */
            pool?: string | null;
            /** @description False: mail that must leave from it waits. */
            is_active?: boolean | null;
            /** @description True: starts the warm-up, or continues it. */
            warm_up_enabled?: boolean | null;
        };
        SendingIpUpdate: {
            /** @description EHLO name. Omitted: that of the service. */
            hostname?: string | null;
            /** @description Routing rules may name it instead of an address. */
            pool?: string | null;
            /** @description False: mail that must leave from it waits. */
            is_active?: boolean | null;
            /** @description True: starts the warm-up, or continues it. */
            warm_up_enabled?: boolean | null;
        };
        /** @description One of the three. */
        RoutingRuleAction: {
            /** @description A sending IP. */
            source_ip_id?: string | null;
            /** @description Any sending IP of this pool. */
            pool?: string | null;
            /** @description A smart host, `smtp://user:password@host:587`; the password is never shown. */
            relay_url?: string | null;
        };
        RoutingRule: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @description Lower goes first. */
            priority: number;
            match: {
                recipient_domains: string[];
                providers: string[];
            };
            action: components["schemas"]["RoutingRuleAction"];
            is_active: boolean;
            /** @description False: applies only to campaigns that name the rule. */
            is_automatic: boolean;
            /** Format: date-time */
            created_at: string;
        };
        /** @description Both have to match; an empty one matches everything. */
        RoutingRuleMatch: {
            recipient_domains?: string[] | null;
            /** @description Mailbox providers, by the names of lanes: google, yahoo, outlook ... */
            providers?: string[] | null;
        };
        RoutingRuleInput: {
            name: string;
            action: components["schemas"]["RoutingRuleAction"];
            /** @description Lower goes first. */
            priority?: number | null;
            /** @description Both have to match; an empty one matches everything. */
            match?: components["schemas"]["RoutingRuleMatch"] | null;
            is_active?: boolean | null;
            is_automatic?: boolean | null;
        };
        RoutingRuleUpdate: {
            name?: string | null;
            /** @description One of the three. */
            action?: components["schemas"]["RoutingRuleAction"] | null;
            /** @description Lower goes first. */
            priority?: number | null;
            /** @description Both have to match; an empty one matches everything. */
            match?: components["schemas"]["RoutingRuleMatch"] | null;
            is_active?: boolean | null;
            is_automatic?: boolean | null;
        };
        DmarcSource: {
            source_ip: string;
            /** @description Messages that receivers saw. */
            messages: number;
            /** @description Messages that passed DMARC, by DKIM or by SPF. */
            passed: number;
            dkim_aligned: number;
            spf_aligned: number;
            /** @description Filed as spam because of the policy. */
            quarantined: number;
            /** @description Refused because of the policy. */
            rejected: number;
        };
        DmarcReport: {
            /** Format: uuid */
            id: string;
            /** @description The reporting organisation. */
            org_name: string;
            /** @description The reporter's id of the report. */
            report_id: string;
            /** @description The domain whose DMARC record was found. */
            policy_domain: string;
            /** @description `p` of that record. */
            policy: string | null;
            /** Format: date-time */
            begins_at: string;
            /** Format: date-time */
            ends_at: string;
            messages: number;
            /** @description Groups of messages with the same source and results. */
            records: number;
            /** @description Records that could not be read and are not counted, by reason. */
            unread: {
                /** @description Codes: empty, no_report, corrupt, too_large, too_many_entries, bad_entry_name, nested_archive, encrypted, document_type, malformed, too_many_records, too_many_in_mail, missing_field, bad_date, bad_count, bad_source_ip, cut_off, another_domain, future, too_many_reports, reading_too_slow, reading_too_large. */
                reason: string;
                message: string;
                records: number;
            }[];
            /** Format: date-time */
            received_at: string;
        };
        RefusedReport: {
            /** Format: uuid */
            id: string;
            /** @description Codes: empty, no_report, corrupt, too_large, too_many_entries, bad_entry_name, nested_archive, encrypted, document_type, malformed, too_many_records, too_many_in_mail, missing_field, bad_date, bad_count, bad_source_ip, cut_off, another_domain, future, too_many_reports, reading_too_slow, reading_too_large. */
            reason: string;
            /** @description The reason as a sentence. */
            message: string;
            /** @description What the reason is about, such as the other domain. */
            detail: string | null;
            file_name: string | null;
            /** @description The domain in the mail's From. */
            sender: string | null;
            /** Format: date-time */
            received_at: string;
        };
        /** @description Reports to the domain's address that were refused as a whole, by time of arrival. */
        RefusedReports: {
            /** @description Of the newest 200. */
            total: number;
            /** @description Newest first, at most 50. */
            reports: components["schemas"]["RefusedReport"][];
        };
        DmarcReports: {
            window_days: number;
            totals: {
                /** @description Messages that receivers saw. */
                messages: number;
                /** @description Messages that passed DMARC, by DKIM or by SPF. */
                passed: number;
                dkim_aligned: number;
                spf_aligned: number;
                /** @description Filed as spam because of the policy. */
                quarantined: number;
                /** @description Refused because of the policy. */
                rejected: number;
            };
            /** @description Sending IP addresses with the most messages, at most 100; from the newest reports with together at most 150000 records. */
            sources: components["schemas"]["DmarcSource"][];
            reports: components["schemas"]["DmarcReport"][];
            put_aside: components["schemas"]["RefusedReports"];
            pagination: components["schemas"]["Pagination"];
        };
        TlsReport: {
            /** Format: uuid */
            id: string;
            /** @description The reporting organisation. */
            organization_name: string;
            /** @description The reporter's id of the report. */
            report_id: string;
            /** Format: date-time */
            begins_at: string;
            /** Format: date-time */
            ends_at: string;
            successful: number;
            failed: number;
            failures: {
                /** @description RFC 8460 section 4.3. */
                result_type: string;
                policy_type: string;
                failed: number;
                sending_mta_ip: string | null;
                receiving_mx_hostname: string | null;
                failure_reason_code: string | null;
            }[];
            /** @description Records that could not be read and are not counted, by reason. */
            unread: {
                /** @description Codes: empty, no_report, corrupt, too_large, too_many_entries, bad_entry_name, nested_archive, encrypted, document_type, malformed, too_many_records, too_many_in_mail, missing_field, bad_date, bad_count, bad_source_ip, cut_off, another_domain, future, too_many_reports, reading_too_slow, reading_too_large. */
                reason: string;
                message: string;
                records: number;
            }[];
            /** Format: date-time */
            received_at: string;
        };
        TlsReports: {
            window_days: number;
            totals: {
                /** @description Sessions with TLS. */
                successful: number;
                /** @description Sessions that failed because of TLS. */
                failed: number;
            };
            reports: components["schemas"]["TlsReport"][];
            put_aside: components["schemas"]["RefusedReports"];
            pagination: components["schemas"]["Pagination"];
        };
        CampaignSummary: {
            /** Format: uuid */
            id: string;
            name: string;
            subject: string;
            from_email: string;
            from_name: string | null;
            /** @enum {unknown} */
            status: "draft" | "scheduled" | "sending" | "sent" | "paused" | "cancelled";
            /** @enum {unknown} */
            message_type: "email" | "sms";
            /** @enum {unknown} */
            recipient_type: "mailing_list" | "segment" | "custom";
            mailing_list_id: string | null;
            mailing_list_name: string | null;
            segment_id: string | null;
            segment_name: string | null;
            /** @description When it leaves, in UTC; null: when it is sent by a call. */
            scheduled_at: string | null;
            /** @description When sending began. */
            sent_at: string | null;
            completed_at: string | null;
            paused_at: string | null;
            /** @description Why the service paused it; null when a person did. */
            pause_reason: string | null;
            /** @description Why a campaign in status `sending` is waiting; it continues without a call. */
            waiting_reason: ("hourly_cap" | "workspace_suspended") | null;
            /** @description The workspace's time zone, used to read a `scheduled_at` without an offset; answers are in UTC. */
            timezone: string;
            /** @description An estimate until the whole audience has been processed; then the number of messages. */
            total_recipients: number;
            /** @description People in the audience who got no message, by reason. */
            excluded: {
                suppressed: number;
                unsubscribed: number;
                invalid: number;
                duplicate: number;
            };
            /** @description Messages that had their first attempt, whatever its result. */
            sent_count: number;
            delivered_count: number;
            /** @description Opens by people. Opens and clicks by machines are not counted here or below. */
            open_count: number;
            /** @description Messages that were opened or clicked. */
            unique_open_count: number;
            click_count: number;
            unique_click_count: number;
            /** @description Opens by programs, such as mail filters that load every image. */
            machine_opens: number;
            machine_clicks: number;
            bounce_count: number;
            complaint_count: number;
            unsubscribe_count: number;
            failed_count: number;
            /** @description Messages not sent because the recipient was suppressed when they were due. */
            suppressed_count: number;
            /** @description Fraction of the delivered, 0 to 1. */
            open_rate: number;
            /** @description Fraction of the delivered, 0 to 1. */
            click_rate: number;
            /** @description Fraction of the sent, 0 to 1. */
            bounce_rate: number;
            /** @description Fraction of the delivered, 0 to 1. */
            complaint_rate: number;
            /** @description Fraction of the delivered, 0 to 1. */
            unsubscribe_rate: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        Attachment: {
            filename: string;
            /** @description The file in Base64. */
            content: string;
            /** @description Media type, such as application/pdf. */
            content_type: string;
            disposition?: ("attachment" | "inline") | null;
            /** @description For inline images: the HTML refers to it as cid:<content_id>. */
            content_id?: string | null;
        };
        NewCampaign: {
            /** @description Internal name. */
            name: string;
            /** @description May hold merge tags. */
            subject: string;
            /** @description An address on a sending domain whose ownership is verified (POST /sending-domains), or a verified sender (POST /verified-senders). */
            from_email: string;
            /** @description Default: the list's. */
            from_name?: string | null;
            /** @description Default: the list's reply_to_email. */
            reply_to?: string | null;
            /** @description What is sent. */
            message_type?: ("email" | "sms") | null;
            /** @description For sms: the custom field that holds the telephone number. */
            phone_field_name?: string | null;
            /** @description Default: follows from which of the next three fields is given. */
            recipient_type?: ("mailing_list" | "segment" | "custom") | null;
            /** @description All active members of this list. Whether it exists is checked when the campaign is sent. */
            mailing_list_id?: string | null;
            /** @description Only the members of this segment, instead of all members of its list. */
            segment_id?: string | null;
            /** @description Segment rules `{ logic, rules }` instead of a saved segment: members of mailing_list_id, or of any list when that is omitted. */
            segment_conditions?: {
                logic?: unknown;
                rules?: unknown;
            } | null;
            /** @description May hold merge tags. Omitted: made from the text. */
            html_content?: string | null;
            /** @description Omitted: made from the HTML. For sms: the message. */
            text_content?: string | null;
            /** @description Default: the list's setting. */
            enable_open_tracking?: boolean | null;
            /** @description Default: the list's setting. */
            enable_click_tracking?: boolean | null;
            /** @description Tracking domain for links. */
            url_domain_id?: string | null;
            /** @description Whether the mail carries custom_headers. */
            use_custom_headers?: boolean | null;
            /** @description Lines `Name: value`. */
            custom_headers?: string | null;
            /** @description A sending IP, or `routing_rule:<uuid>`. */
            virtual_mta_ip?: string | null;
            /** @description The routing rule that chooses the sending IP. */
            routing_rule_id?: string | null;
            /** @description Gets copies of delivery failure reports: on a verified sending domain, or a verified sender. */
            bounce_email?: string | null;
            /** @description The envelope sender uses the verified custom return path of this address's sending domain. */
            sender_email?: string | null;
            /** @description When a campaign leaves after POST /campaigns/{id}/send; without that call nothing is sent. Such as `2026-12-01T09:00:00+01:00`; without an offset in the workspace's time zone. Omitted or past: at once. */
            scheduled_at?: string | null;
            /** @description Files in every mail of the campaign. */
            attachments?: components["schemas"]["Attachment"][] | null;
        };
        ContentWarning: {
            field: string;
            line: number;
            column: number;
            message: string;
        };
        Campaign: {
            /** Format: uuid */
            id: string;
            name: string;
            subject: string;
            from_email: string;
            from_name: string | null;
            /** @enum {unknown} */
            status: "draft" | "scheduled" | "sending" | "sent" | "paused" | "cancelled";
            /** @enum {unknown} */
            message_type: "email" | "sms";
            /** @enum {unknown} */
            recipient_type: "mailing_list" | "segment" | "custom";
            mailing_list_id: string | null;
            mailing_list_name: string | null;
            segment_id: string | null;
            segment_name: string | null;
            /** @description When it leaves, in UTC; null: when it is sent by a call. */
            scheduled_at: string | null;
            /** @description When sending began. */
            sent_at: string | null;
            completed_at: string | null;
            paused_at: string | null;
            /** @description Why the service paused it; null when a person did. */
            pause_reason: string | null;
            /** @description Why a campaign in status `sending` is waiting; it continues without a call. */
            waiting_reason: ("hourly_cap" | "workspace_suspended") | null;
            /** @description The workspace's time zone, used to read a `scheduled_at` without an offset; answers are in UTC. */
            timezone: string;
            /** @description An estimate until the whole audience has been processed; then the number of messages. */
            total_recipients: number;
            /** @description People in the audience who got no message, by reason. */
            excluded: {
                suppressed: number;
                unsubscribed: number;
                invalid: number;
                duplicate: number;
            };
            /** @description Messages that had their first attempt, whatever its result. */
            sent_count: number;
            delivered_count: number;
            /** @description Opens by people. Opens and clicks by machines are not counted here or below. */
            open_count: number;
            /** @description Messages that were opened or clicked. */
            unique_open_count: number;
            click_count: number;
            unique_click_count: number;
            /** @description Opens by programs, such as mail filters that load every image. */
            machine_opens: number;
            machine_clicks: number;
            bounce_count: number;
            complaint_count: number;
            unsubscribe_count: number;
            failed_count: number;
            /** @description Messages not sent because the recipient was suppressed when they were due. */
            suppressed_count: number;
            /** @description Fraction of the delivered, 0 to 1. */
            open_rate: number;
            /** @description Fraction of the delivered, 0 to 1. */
            click_rate: number;
            /** @description Fraction of the sent, 0 to 1. */
            bounce_rate: number;
            /** @description Fraction of the delivered, 0 to 1. */
            complaint_rate: number;
            /** @description Fraction of the delivered, 0 to 1. */
            unsubscribe_rate: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            reply_to: string | null;
            phone_field_name: string | null;
            segment_conditions: {
                [key: string]: unknown;
            } | null;
            html_content: string | null;
            text_content: string | null;
            enable_open_tracking: boolean | null;
            enable_click_tracking: boolean | null;
            url_domain_id: string | null;
            use_custom_headers: boolean;
            custom_headers: string | null;
            virtual_mta_ip: string | null;
            routing_rule_id: string | null;
            bounce_email: string | null;
            sender_email: string | null;
            attachments: {
                filename: string;
                content: string;
                content_type: string;
                /** @enum {unknown} */
                disposition: "attachment" | "inline";
                content_id: string | null;
            }[];
            /** @description Merge tags that show nothing, tracking that a text cannot have, and faults that prevent sending. */
            warnings: components["schemas"]["ContentWarning"][];
        };
        SendOrder: {
            /** @description Overrides the campaign's own time. A time in the past means now; an empty one is refused. */
            scheduled_at?: string | null;
            /** @description True: send now, whatever time the campaign has. Cannot be combined with scheduled_at. */
            send_now?: boolean | null;
        };
        TestOrder: {
            emails: string[];
        };
        CampaignHour: {
            /** Format: date-time */
            time: string;
            /** @description Messages that had their first attempt, whatever its result. */
            sent: number;
            opens: number;
            clicks: number;
            unsubscribes: number;
            complaints: number;
        };
        DomainStats: {
            domain: string;
            /** @description Without those that were suppressed or cancelled. */
            total_messages: number;
            /** @description 0 to 100. */
            percent_total: number;
            /** @description Delivered, including messages that were complained about later. */
            success: number;
            bounced: number;
            failure: number;
            /** @description Queued, being sent or deferred. */
            still_trying: number;
        };
        CampaignMessage: {
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            time: string;
            localpart: string;
            domain: string;
            /** @enum {unknown} */
            status: "queued" | "sending" | "delivered" | "deferred" | "bounced" | "failed" | "suppressed" | "cancelled" | "complained";
            attempts: number;
            error_message: string | null;
            /** @description For deferred messages; otherwise null. */
            next_attempt_at: string | null;
        };
        CampaignActivity: {
            /** Format: uuid */
            id: string;
            /**
             * @description `sent`: the recipient's server accepted the message.
             * @enum {unknown}
             */
            type: "sent" | "opened" | "clicked" | "bounced" | "unsubscribed" | "complained";
            email: string;
            description: string;
            /** @description Number of times, if it happened more than once at the same moment. */
            times: number;
            /** Format: date-time */
            timestamp: string;
        };
        CampaignLink: {
            index: number;
            /** @description With its merge tags. */
            url: string;
            /** @description Whether the URL contains merge tags. */
            is_personal: boolean;
            click_count: number;
            /** @description People who clicked the link. */
            unique_click_count: number;
        };
        AutoresponderTrigger: {
            /**
             * @description `subscribed`: when a person becomes an active member of the list; `date`: on the day in a custom field.
             * @enum {unknown}
             */
            type: "subscribed" | "date";
            /** @description For date: the field_name of a date field. */
            field?: string;
            /** @description For date: repeat every year. 29 February counts as 28 February in years without it. */
            yearly?: boolean;
            /** @description For date: HH:MM in the workspace's time zone; 09:00 when omitted. */
            at?: string;
        };
        AutoresponderSummary: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @enum {unknown} */
            status: "inactive" | "active";
            /** Format: uuid */
            mailing_list_id: string;
            /** @description Null when the list was deleted. */
            mailing_list_name: string | null;
            from_email: string;
            from_name: string | null;
            reply_to: string | null;
            enable_open_tracking: boolean | null;
            enable_click_tracking: boolean | null;
            trigger: components["schemas"]["AutoresponderTrigger"];
            step_count: number;
            activated_at: string | null;
            deactivated_at: string | null;
            /** @description Why the service deactivated it; null when a person did. */
            deactivation_reason: string | null;
            /** @description Why due messages are not sent yet; null when they are not waiting. */
            waiting_reason: ("plan_limit_reached" | "insufficient_balance" | "hourly_cap") | null;
            /** @description Messages that had their first attempt. */
            sent_count: number;
            delivered_count: number;
            /** @description Opens by people. Opens and clicks by machines are not counted here or below. */
            open_count: number;
            /** @description Messages that were opened or clicked. */
            unique_open_count: number;
            click_count: number;
            unique_click_count: number;
            bounce_count: number;
            complaint_count: number;
            unsubscribe_count: number;
            failed_count: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        /** @description The first step counts from the trigger, every other from the step before it. */
        Delay: {
            /** @default 0 */
            days?: number;
            /** @default 0 */
            hours?: number;
            /** @default 0 */
            minutes?: number;
        };
        NewAutoresponderStep: {
            /** @description The id of an existing step, to change that step. */
            id?: string | null;
            delay?: components["schemas"]["Delay"];
            /** @description May hold merge tags. */
            subject: string;
            /** @description May hold merge tags. Omitted: made from the text. */
            html_content?: string | null;
            /** @description Omitted: made from the HTML. */
            text_content?: string | null;
        };
        NewAutoresponder: {
            /** @description Internal name. */
            name: string;
            /** Format: uuid */
            mailing_list_id: string;
            /** @description An address on a sending domain whose ownership is verified (POST /sending-domains), or a verified sender (POST /verified-senders). */
            from_email: string;
            /** @description Default: the list's. */
            from_name?: string | null;
            /** @description Default: the list's reply_to_email. */
            reply_to?: string | null;
            /** @description Default: the list's setting. */
            enable_open_tracking?: boolean | null;
            /** @description Default: the list's setting. */
            enable_click_tracking?: boolean | null;
            trigger: components["schemas"]["AutoresponderTrigger"];
            steps: components["schemas"]["NewAutoresponderStep"][];
        };
        AutoresponderStep: {
            /** Format: uuid */
            id: string;
            delay: {
                /** @default 0 */
                days: number;
                /** @default 0 */
                hours: number;
                /** @default 0 */
                minutes: number;
            };
            subject: string;
            html_content: string | null;
            text_content: string | null;
            /** @description Merge tags that show nothing. */
            warnings: components["schemas"]["ContentWarning"][];
        };
        Autoresponder: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @enum {unknown} */
            status: "inactive" | "active";
            /** Format: uuid */
            mailing_list_id: string;
            /** @description Null when the list was deleted. */
            mailing_list_name: string | null;
            from_email: string;
            from_name: string | null;
            reply_to: string | null;
            enable_open_tracking: boolean | null;
            enable_click_tracking: boolean | null;
            trigger: components["schemas"]["AutoresponderTrigger"];
            step_count: number;
            activated_at: string | null;
            deactivated_at: string | null;
            /** @description Why the service deactivated it; null when a person did. */
            deactivation_reason: string | null;
            /** @description Why due messages are not sent yet; null when they are not waiting. */
            waiting_reason: ("plan_limit_reached" | "insufficient_balance" | "hourly_cap") | null;
            /** @description Messages that had their first attempt. */
            sent_count: number;
            delivered_count: number;
            /** @description Opens by people. Opens and clicks by machines are not counted here or below. */
            open_count: number;
            /** @description Messages that were opened or clicked. */
            unique_open_count: number;
            click_count: number;
            unique_click_count: number;
            bounce_count: number;
            complaint_count: number;
            unsubscribe_count: number;
            failed_count: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            steps: components["schemas"]["AutoresponderStep"][];
        };
        Email: {
            /** @description One recipient: `ada@example.com` or `Ada <ada@example.com>`. */
            to: string;
            subject: string;
            /** @description HTML or plain text; the format is detected. HTML gets a text part, plain text is sent as it is. */
            body: string;
            /** @description On a verified sending domain, or a verified sender. Default: the workspace's default sender, else the platform's. */
            from_email?: string | null;
            from_name?: string | null;
            /** @description Gets copies of the message's delivery failure reports: on a verified sending domain, or a verified sender. */
            bounce_email?: string | null;
            attachments?: components["schemas"]["Attachment"][] | null;
        };
        QueuedEmail: {
            /**
             * @description `valid` is the answer to a dry run.
             * @enum {unknown}
             */
            status: "queued" | "valid";
            /** @description The message; null after a dry run. */
            id: string | null;
        };
        BlacklistCheckInput: {
            /** @description A public IP address (version 4 or 6) or a domain. */
            target: string;
        };
        BlacklistCheck: {
            /** @description IP address in canonical form, or domain in lower-case A-labels. */
            target: string;
            /** @enum {unknown} */
            target_type: "ip" | "domain";
            /** @description Zones that were queried: all except the skipped ones. */
            total_checked: number;
            listed_count: number;
            /** @description Listed first, then by name. */
            results: {
                zone: string;
                /**
                 * @description `listed`, `not_listed`; `skipped`: not queried, because the zone does not list such targets, is switched off or fails its self-test; `timeout`: no answer within 5 seconds; `error`: the zone or the DNS refused the query.
                 * @enum {unknown}
                 */
                status: "listed" | "not_listed" | "skipped" | "timeout" | "error";
                /** @description Why the target is listed, or why that is unknown; otherwise what the zone lists. */
                description: string;
                /** @description Where to ask for removal of a listing; null if the zone has no such page. */
                delisting_info: string | null;
            }[];
            /** Format: date-time */
            checked_at: string;
            /** @description Null: no limit. */
            remaining_checks: number | null;
            allowance: {
                used: number;
                /** @description Null: no limit. */
                limit: number | null;
                remaining: number | null;
                /** Format: date-time */
                resets_at: string;
            };
        };
        BlacklistMonitor: {
            /** Format: uuid */
            id: string;
            /** @description IP address in canonical form, or domain in lower-case A-labels. */
            target: string;
            /** @enum {unknown} */
            target_type: "ip" | "domain";
            frequency_minutes: number;
            notify: boolean;
            /** @enum {unknown} */
            status: "active" | "paused";
            /** @description The last run in which at least one zone answered. */
            last_checked_at: string | null;
            /** @description Null while paused. */
            next_run_at: string | null;
            /** @description 0 before the first run. */
            last_listed_count: number;
            /** @description A zone that did not answer keeps its previous state. */
            last_listed_zones: string[];
            /** @description Why the last run gave no result; null when it gave one. */
            last_error: string | null;
        };
        BlacklistMonitorInput: {
            /** @description A public IP address (version 4 or 6) or a domain. */
            target: string;
            /** @default 1440 */
            frequency_minutes?: number;
            /**
             * @description Send a notice to the workspace's notify_email when the zones that list the target change.
             * @default true
             */
            notify?: boolean;
        };
        BlacklistMonitorUpdate: {
            frequency_minutes?: number;
            notify?: boolean;
            /**
             * @description A resumed monitor runs at once.
             * @enum {unknown}
             */
            status?: "active" | "paused";
        };
        BlacklistHistoryRow: {
            /** Format: uuid */
            id: string;
            /** @description IP address in canonical form, or domain in lower-case A-labels. */
            target: string;
            /** @enum {unknown} */
            target_type: "ip" | "domain";
            /** @enum {unknown} */
            check_type: "manual" | "scheduled";
            /**
             * @description `error`: no zone answered, which costs nothing; `skipped`: neither allowance nor balance covered it when the monitor was due.
             * @enum {unknown}
             */
            status: "clean" | "listed" | "error" | "skipped";
            listed_count: number;
            total_checked: number;
            /** @description Checks charged: 0 or 1. */
            cost: number;
            /** Format: date-time */
            created_at: string;
            /** @description Status by zone. */
            result: {
                [key: string]: "listed" | "not_listed" | "skipped" | "timeout" | "error";
            };
        };
        ValidationRequest: {
            /** @description A text that is not an address is no error: its status is `invalid`, and it costs nothing. Its first 1,000 characters are kept. */
            email: string;
            /** @description The mail server is asked from the IP of this routing rule. */
            routing_rule_id?: string | null;
            /** @description The sending IP from which the mail server is asked, or `routing_rule:<uuid>`. */
            virtual_mta_ip?: string | null;
        };
        SmtpResponse: {
            /** @description The code of the reply that decided; null when there was none. */
            code: number | null;
            enhanced_code: string | null;
            message: string;
            mx_host: string | null;
            port: number;
            tls: boolean;
            duration_ms: number;
            catch_all_checked: boolean;
            /** @enum {unknown} */
            result: "accepted" | "rejected" | "greylisted" | "blocked" | "timeout" | "error";
        };
        Validation: {
            /** @description As given in the request. */
            email: string;
            /** @enum {unknown} */
            status: "valid" | "invalid" | "catch-all" | "disposable" | "role-based" | "unknown";
            /** @description 0 is safe, 10 is risky. */
            risk_score: number;
            /** @description Why the status is invalid or unknown; null for other statuses. */
            reason: string | null;
            format_valid: boolean;
            /** @description Whether the domain can receive mail. */
            domain_valid: boolean;
            mx_record_found: boolean;
            /** @description Whether the mailbox exists; only present if its server answered clearly. */
            email_exists?: boolean;
            smtp_response?: components["schemas"]["SmtpResponse"];
            is_catch_all: boolean;
            is_disposable: boolean;
            is_role_based: boolean;
            /** @description Whether the address complained about this workspace's mail. */
            is_complainer: boolean;
            is_honeypot: boolean;
            is_free_provider: boolean;
            /** @description Whether the domain was registered within the last 30 days; null: unknown. */
            is_new_domain: boolean | null;
            /** @description The domain that was probably intended. */
            suggestion: string | null;
            /** @description The mail host that is tried first. */
            mx_host: string | null;
            /** Format: date-time */
            checked_at: string;
            /** @description Whether the result is from a call of the last ten minutes. */
            cached: boolean;
        };
        BulkValidation: {
            /**
             * Format: binary
             * @description A CSV file with a column named email (default: the first column), or one address a line. At most 20 MB and 100,000 addresses.
             */
            file: Upload;
            /** @description Encoding of the file, such as utf-8, windows-1252 or shift_jis. If omitted, UTF-8 is detected and any other encoding is guessed. */
            encoding?: string;
        };
        ValidationHistoryRow: {
            email: string;
            /** @enum {unknown} */
            status: "valid" | "invalid" | "catch-all" | "disposable" | "role-based" | "unknown";
            risk_score: number;
            /** @description Validations charged: 0 or 1. */
            cost: number;
            /** Format: date-time */
            created_at: string;
        };
        ValidationUsage: {
            /** @description Validations charged per address. */
            cost_per_validation: number;
            hour_used: number;
            /** @description The workspace's hourly cap; null: none. */
            hour_limit: number | null;
            month_used: number;
            /** @description The plan's allowance; null: no limit. */
            month_limit: number | null;
            /** @description Whether there is an hourly cap. */
            rate_limit_enabled: boolean;
        };
        ValidationStats: {
            totals: {
                total: number;
                valid: number;
                invalid: number;
                catch_all: number;
                disposable: number;
                role_based: number;
                unknown: number;
            };
            /** @description All days in UTC, oldest first, including those without validations. */
            daily: {
                /** Format: date */
                date: string;
                total: number;
                valid: number;
                invalid: number;
                catch_all: number;
                disposable: number;
                role_based: number;
                unknown: number;
            }[];
            days: number;
            /** Format: date-time */
            since: string;
        };
        MessageLogRow: {
            /** Format: uuid */
            id: string;
            /**
             * Format: date-time
             * @description When the service accepted it.
             */
            time: string;
            localpart: string;
            domain: string;
            /** @enum {unknown} */
            status: "queued" | "sending" | "delivered" | "deferred" | "bounced" | "failed" | "suppressed" | "cancelled" | "complained";
            /** @description Delivery attempts made. */
            attempts: number;
            /** @description The last error; null without one. */
            error_message: string | null;
            /** @enum {unknown} */
            source: "campaign" | "autoresponder" | "api" | "smtp" | "platform";
            /** @description Name of the campaign, API key or other origin. */
            origin_name: string;
            next_attempt_at: string | null;
        };
        TlsNote: {
            /** @description Such as TLSv1.3; null in clear text. */
            version: string | null;
            cipher: string | null;
            /** @description The certificate was valid for the host, or matched its DANE record. */
            verified: boolean;
            /** @description The TLS policy that applied: of the host (DANE, RFC 7672) or of the recipient's domain (MTA-STS, RFC 8461). */
            policy: ("dane" | "mta-sts" | "mta-sts-testing") | null;
            /** @description Null without a policy. */
            policy_met: boolean | null;
            /** @description Why the message was sent in clear text, such as how TLS failed with this host. */
            clear_text_reason: string | null;
        };
        TimelineEntry: {
            /** @description `queued`, the status that the message moved to, or what the recipient did: `opened`, `clicked`, `unsubscribed`; `machine_opened` and `machine_clicked` for programs. */
            type: string;
            /** Format: date-time */
            time: string;
            /** @description The reply of the server, or the target of a clicked link. */
            detail: string | null;
            attempt: number | null;
            mx_host: string | null;
            /** @description The address the attempt was made from. */
            source_ip: string | null;
            tls: components["schemas"]["TlsNote"] | null;
            /** @description SMTP reply code. */
            code: number | null;
            /** @description Enhanced status code (RFC 3463). */
            enhanced_code: string | null;
            /** @description Number of times, if it happened more than once at the same moment. */
            times: number;
            /** @description Of opens and clicks. */
            user_agent: string | null;
            /** @description Why an open or click is attributed to a program: `agent`, `head`, `prefetch`, `early`, `sweep`. */
            machine_sign: string | null;
        };
        Message: {
            /** Format: uuid */
            id: string;
            /**
             * Format: date-time
             * @description When the service accepted it.
             */
            time: string;
            localpart: string;
            domain: string;
            /** @enum {unknown} */
            status: "queued" | "sending" | "delivered" | "deferred" | "bounced" | "failed" | "suppressed" | "cancelled" | "complained";
            /** @description Delivery attempts made. */
            attempts: number;
            /** @description The last error; null without one. */
            error_message: string | null;
            /** @enum {unknown} */
            source: "campaign" | "autoresponder" | "api" | "smtp" | "platform";
            /** @description Name of the campaign, API key or other origin. */
            origin_name: string;
            next_attempt_at: string | null;
            to: string;
            from_email: string;
            subject: string;
            /** @description X-Request-Id of the API call that created it. */
            request_id: string | null;
            timeline: components["schemas"]["TimelineEntry"][];
        };
        Bounce: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            message_id: string;
            /** @description The recipient. */
            email: string;
            domain: string;
            /**
             * @description `hard`: the address is at fault; `soft`: its mailbox or system; `block`: the server rejects this sender or the message.
             * @enum {unknown}
             */
            bounce_type: "hard" | "soft" | "block";
            /** @description Cause of the bounce: `NoEmail`, `MailboxFull`, `Reputation`, ... */
            category: string;
            /** @description Of the reply that rejected the message. */
            smtp_code: number | null;
            /** @description Enhanced status code (RFC 3463). */
            enhanced_code: string | null;
            /** @description The reply of the server. */
            error_message: string;
            /** @enum {unknown} */
            source: "campaign" | "autoresponder" | "api" | "smtp" | "platform";
            campaign_id: string | null;
            /** @description Name of the campaign, API key or other origin. */
            origin_name: string;
            /**
             * Format: date-time
             * @description When it bounced.
             */
            created_at: string;
        };
        Complaint: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            message_id: string;
            /** @description The recipient. */
            email: string;
            domain: string;
            /** @description As the report says (RFC 5965): `abuse`, `fraud`, ... */
            feedback_type: string;
            /** @description The sender of the report. */
            provider: string | null;
            /** @enum {unknown} */
            source: "campaign" | "autoresponder" | "api" | "smtp" | "platform";
            campaign_id: string | null;
            /** @description Name of the campaign, API key or other origin. */
            origin_name: string;
            /**
             * Format: date-time
             * @description When it was complained about.
             */
            created_at: string;
        };
        BouncesComplaints: {
            /** @description As applied. */
            window_days: number;
            bounce_stats: {
                /** @description Of all time, as are the three that follow. */
                total_bounces: number;
                hard_bounces: number;
                soft_bounces: number;
                block_bounces: number;
                /** @description Bounced messages per attempted message, 0 to 1, of those accepted in the window. */
                bounce_rate: number;
                last_24_hours: number;
                last_7_days: number;
                last_30_days: number;
            };
            complaint_stats: {
                /** @description Of all time. */
                total_complaints: number;
                /** @description Complaints per delivered message, 0 to 1, of those accepted in the window. */
                complaint_rate: number;
                last_24_hours: number;
                last_7_days: number;
                last_30_days: number;
            };
            /** @description Days without a bounce are left out. */
            bounce_trends: {
                /**
                 * Format: date
                 * @description In the workspace's time zone.
                 */
                date: string;
                hard: number;
                soft: number;
                block: number;
                total: number;
            }[];
            /** @description Days without a complaint are left out. */
            complaint_trends: {
                /**
                 * Format: date
                 * @description In the workspace's time zone.
                 */
                date: string;
                total: number;
            }[];
            /** @description The ten recipient domains with the most bounces. */
            top_bounce_domains: {
                domain: string;
                count: number;
                /** @description Of all in the window, 0 to 100. */
                percent: number;
            }[];
            complaint_sources: {
                /** @enum {unknown} */
                source: "campaign" | "autoresponder" | "api" | "smtp" | "platform";
                count: number;
                /** @description Of all in the window, 0 to 100. */
                percent: number;
            }[];
        };
        MonthStats: {
            /** @description Delivered, bounced, failed, suppressed and queued messages; the base of their percentages. */
            total: number;
            delivered: number;
            bounced: number;
            failed: number;
            suppressed: number;
            queued: number;
            complained: number;
            unsubscribed: number;
            unique_opens: number;
            unique_clicks: number;
            /** @description 0 to 100. */
            delivered_percent: number;
            /** @description 0 to 100. */
            bounced_percent: number;
            /** @description 0 to 100. */
            failed_percent: number;
            /** @description 0 to 100. */
            suppressed_percent: number;
            /** @description 0 to 100. */
            queued_percent: number;
            /** @description 0 to 100. */
            complained_percent: number;
            /** @description 0 to 100. */
            unsubscribed_percent: number;
            /** @description 0 to 100. */
            unique_opens_percent: number;
            /** @description 0 to 100. */
            unique_clicks_percent: number;
        };
        SetupChecklist: {
            /** @description How many steps are done. */
            completed: number;
            total: number;
            items: {
                /** @enum {unknown} */
                key: "verify_domain" | "publish_dkim" | "publish_dmarc" | "create_api_key" | "create_mailing_list" | "import_subscribers" | "send_first_email" | "send_first_campaign";
                label: string;
                completed: boolean;
                completed_at: string | null;
            }[];
        };
        Dashboard: {
            /** @description Delivered, bounced, failed, suppressed and queued messages; the base of their percentages. */
            total: number;
            delivered: number;
            bounced: number;
            failed: number;
            suppressed: number;
            queued: number;
            complained: number;
            unsubscribed: number;
            unique_opens: number;
            unique_clicks: number;
            /** @description 0 to 100. */
            delivered_percent: number;
            /** @description 0 to 100. */
            bounced_percent: number;
            /** @description 0 to 100. */
            failed_percent: number;
            /** @description 0 to 100. */
            suppressed_percent: number;
            /** @description 0 to 100. */
            queued_percent: number;
            /** @description 0 to 100. */
            complained_percent: number;
            /** @description 0 to 100. */
            unsubscribed_percent: number;
            /** @description 0 to 100. */
            unique_opens_percent: number;
            /** @description 0 to 100. */
            unique_clicks_percent: number;
            stats: components["schemas"]["MonthStats"];
            /**
             * Format: date-time
             * @description The beginning of the month in the workspace's time zone.
             */
            period_start: string;
            setup_checklist: components["schemas"]["SetupChecklist"];
        };
        ChartDay: {
            /**
             * Format: date
             * @description A day of the workspace's time zone.
             */
            date: string;
            /** @description Messages accepted on that day with at least one finished attempt. */
            sent: number;
            delivered: number;
            bounced: number;
            failed: number;
            complained: number;
            suppressed: number;
            /** @description By people, like `clicks`; of the messages accepted on that day. */
            opens: number;
            clicks: number;
            /** @description By programs; no other figure contains them. */
            machine_opens: number;
            machine_clicks: number;
            unsubscribed: number;
        };
        SendingHealth: {
            /** @enum {unknown} */
            status: "healthy" | "warning" | "critical";
            /** @description 0 to 100; 100 when nothing was sent. */
            score: number;
            window_days: number;
            /** @description Messages with at least one finished attempt. */
            total_sent: number;
            /** @description Of those sent, 0 to 1. */
            delivery_rate: number;
            /** @description Of those sent, 0 to 1. */
            bounce_rate: number;
            /** @description Of those delivered, 0 to 1. */
            complaint_rate: number;
            thresholds: {
                bounce: {
                    warning: number;
                    critical: number;
                };
                complaint: {
                    warning: number;
                    critical: number;
                };
            };
            issues: {
                /** @enum {unknown} */
                code: "high_bounce_rate" | "high_complaint_rate";
                /** @enum {unknown} */
                severity: "warning" | "critical";
                message: string;
            }[];
            /** Format: date-time */
            updated_at: string;
        };
        CampaignStats: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @description Status of the campaign; `cancelled` if it was deleted before it was sent. */
            status: string;
            /** @description Deleted, but listed because its messages are still counted. */
            is_deleted: boolean;
            sent_at: string | null;
            /** @description Without those that were suppressed or cancelled. */
            total_messages: number;
            delivered_count: number;
            failed_count: number;
            bounced_count: number;
            /** @description By people, like `click_count`. */
            open_count: number;
            click_count: number;
            /** @description Messages opened or clicked by people, per delivered message: 0 to 1. */
            open_rate: number;
            /** @description Messages opened or clicked by people, per delivered message: 0 to 1. */
            click_rate: number;
        };
        AutoresponderStats: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @enum {unknown} */
            status: "active" | "inactive";
            /** @description Deleted, but listed because its messages are still counted. */
            is_deleted: boolean;
            /** @description Without those that were suppressed or cancelled. */
            total_messages: number;
            delivered_count: number;
            failed_count: number;
            bounced_count: number;
            /** @description By people, like `click_count`. */
            open_count: number;
            click_count: number;
            /** @description Messages opened or clicked by people, per delivered message: 0 to 1. */
            open_rate: number;
            /** @description Messages opened or clicked by people, per delivered message: 0 to 1. */
            click_rate: number;
        };
        KeyStats: {
            /**
             * Format: uuid
             * @description Of the API key.
             */
            id: string;
            /** @description Also of a deleted key. */
            name: string;
            /** @description Without those that were suppressed or cancelled. */
            total_messages: number;
            delivered_count: number;
            failed_count: number;
            bounced_count: number;
        };
        GooglePostmaster: {
            /** @description Whether the operator connected Google Postmaster Tools, and Google accepted the credentials at the last request. */
            connected: boolean;
            /** @description Verified sending domains that are registered there, newest figures first, 100 at most. */
            domains: {
                domain: string;
                /** @description The newest day with figures; null when there was too little mail to Gmail. */
                date: string | null;
                /** @description Share of mail in inboxes that recipients reported as spam, 0 to 1; null when Google gives no figure. */
                spam_rate: number | null;
                /** @description Share of mail that passed SPF, 0 to 1; null when Google gives no figure. */
                spf_success_rate: number | null;
                /** @description Share of mail that passed DKIM, 0 to 1; null when Google gives no figure. */
                dkim_success_rate: number | null;
                /** @description Share of mail that passed DMARC, 0 to 1; null when Google gives no figure. */
                dmarc_success_rate: number | null;
                /** @description Share of mail received over TLS, 0 to 1; null when Google gives no figure. */
                encryption_rate: number | null;
                /** @description Share of mail rejected or deferred, 0 to 1; null when Google gives no figure. */
                delivery_error_rate: number | null;
            }[];
        };
        Deliverability: {
            overall_metrics: {
                total_sent_24h: number;
                total_sent_7d: number;
                total_sent_30d: number;
                /** @description In the window. */
                total_sent: number;
                delivered: number;
                /** @description Per message sent in the window, 0 to 1. */
                delivery_rate: number;
                /** @description Per message sent in the window, 0 to 1. */
                bounce_rate: number;
                /** @description Per message sent in the window, 0 to 1. */
                hard_bounce_rate: number;
                /** @description Per message sent in the window, 0 to 1. */
                soft_bounce_rate: number;
                /** @description Per message delivered in the window, 0 to 1. */
                complaint_rate: number;
                /** @description Per message delivered in the window, 0 to 1. */
                open_rate: number;
                /** @description Per message delivered in the window, 0 to 1. */
                click_rate: number;
                /** @description 0 to 100; 100 when nothing was sent. */
                health_score: number;
                /** @description Source addresses ever used. */
                ip_count: number;
                /** @description Domains ever used in From. */
                domain_count: number;
            };
            ip_reputations: {
                ip: string;
                sent: number;
                delivered: number;
                bounced: number;
                complained: number;
                /** @description Per message sent in the window, 0 to 1. */
                delivery_rate: number;
                /** @description Per message sent in the window, 0 to 1. */
                bounce_rate: number;
                /** @description Per message delivered in the window, 0 to 1. */
                complaint_rate: number;
                /** @description 0 to 100; 100 when nothing was sent. */
                score: number;
                /** @description Blacklists that list it; null without a blacklist monitor. */
                blacklist_listed_count: number | null;
                last_checked_at: string | null;
            }[];
            domain_reputations: {
                domain: string;
                sent: number;
                delivered: number;
                bounced: number;
                complained: number;
                /** @description Per message sent in the window, 0 to 1. */
                delivery_rate: number;
                /** @description Per message sent in the window, 0 to 1. */
                bounce_rate: number;
                /** @description Per message delivered in the window, 0 to 1. */
                complaint_rate: number;
                /** @description 0 to 100; 100 when nothing was sent. */
                score: number;
                /** @description Blacklists that list it; null without a blacklist monitor. */
                blacklist_listed_count: number | null;
                last_checked_at: string | null;
            }[];
            bounce_breakdown: {
                hard: number;
                soft: number;
                block: number;
                by_category: {
                    category: string;
                    count: number;
                    /** @description 0 to 100. */
                    percent: number;
                }[];
            };
            google_postmaster: components["schemas"]["GooglePostmaster"];
            /** @description True when the workspace has no active sending IP: its mail leaves from the shared addresses. */
            sends_via_shared_pool: boolean;
            /** @description As applied. */
            window_days: number;
            /** Format: date-time */
            last_updated: string;
        };
        Job: {
            /** Format: uuid */
            id: string;
            /**
             * Format: uuid
             * @description Equal to id.
             */
            job_id: string;
            type: string;
            /** @enum {unknown} */
            status: "pending" | "processing" | "completed" | "failed" | "cancelled";
            /** @description Percentage. */
            progress: number;
            /** @description Items to process; null while unknown. */
            total: number | null;
            processed: number;
            succeeded: number;
            failed: number;
            skipped: number;
            counts: {
                created: number;
                updated: number;
                duplicates: number;
                invalid: number;
            } & {
                [key: string]: number;
            };
            /** @description The result of the job; null until it has ended, and if the result is a file. */
            result: unknown;
            /** @description Why it failed. */
            error: string | null;
            /** @description Path of the result file. */
            download_url: string | null;
            /** @description Path of the file with the rejected rows. */
            errors_url: string | null;
            /** Format: date-time */
            created_at: string;
            started_at: string | null;
            completed_at: string | null;
            expires_at: string | null;
        };
        Webhook: {
            /** Format: uuid */
            id: string;
            url: string;
            events: string[];
            description: string | null;
            is_active: boolean;
            /** @description Why the service switched the webhook off. */
            disabled_reason: string | null;
            /** @description Deliveries given up since the last successful one; the 30th switches the webhook off. */
            consecutive_failures: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        WebhookInput: {
            /** @description https://, without credentials. */
            url: string;
            /** @description `*` for all events, future ones included. */
            events: ("*" | "message.delivered" | "message.deferred" | "message.bounced" | "message.failed" | "message.complained" | "message.suppressed" | "message.opened" | "message.clicked" | "subscriber.created" | "subscriber.updated" | "subscriber.unsubscribed" | "form.abused" | "campaign.sent" | "campaign.paused" | "domain.verified" | "domain.failed" | "blacklist.listed" | "blacklist.delisted" | "job.completed")[];
            description?: string | null;
            /** @default true */
            is_active?: boolean;
        };
        WebhookWithSecret: {
            /** Format: uuid */
            id: string;
            url: string;
            events: string[];
            description: string | null;
            is_active: boolean;
            /** @description Why the service switched the webhook off. */
            disabled_reason: string | null;
            /** @description Deliveries given up since the last successful one; the 30th switches the webhook off. */
            consecutive_failures: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /** @description `whsec_...`, to check signatures with. It is not shown again. */
            secret: string;
        };
        WebhookUpdate: {
            /** @description https://, without credentials. */
            url?: string;
            /** @description `*` for all events, future ones included. */
            events?: ("*" | "message.delivered" | "message.deferred" | "message.bounced" | "message.failed" | "message.complained" | "message.suppressed" | "message.opened" | "message.clicked" | "subscriber.created" | "subscriber.updated" | "subscriber.unsubscribed" | "form.abused" | "campaign.sent" | "campaign.paused" | "domain.verified" | "domain.failed" | "blacklist.listed" | "blacklist.delisted" | "job.completed")[];
            description?: string | null;
            /** @description true clears disabled_reason and consecutive_failures. */
            is_active?: boolean;
        };
        WebhookDelivery: {
            /**
             * Format: uuid
             * @description The webhook-id header of every attempt.
             */
            id: string;
            type: string;
            /** @enum {unknown} */
            status: "pending" | "delivered" | "failed";
            attempts: number;
            next_attempt_at: string | null;
            attempted_at: string | null;
            /** @description The status of the last answer; null when there was none. */
            status_code: number | null;
            /** @description Why the last attempt failed. */
            error: string | null;
            /** @description The duration of the last attempt. */
            duration_ms: number | null;
            /** @description The request body: { type, timestamp, data }. */
            body: unknown;
            /** Format: date-time */
            created_at: string;
        };
        /** @description The `data` of each type of webhook event. */
        WebhookEventData: {
            "message.delivered": {
                /** Format: uuid */
                message_id: string;
                to: string;
                from_email: string;
                /** @description campaign, autoresponder, api, smtp */
                source: string;
                origin_id: string | null;
                origin_name: string;
                attempts: number;
                /** @description The remote server's reply, or why the message was given up. */
                detail: string | null;
                smtp_code: number | null;
                enhanced_code: string | null;
            };
            "message.deferred": {
                /** Format: uuid */
                message_id: string;
                to: string;
                from_email: string;
                /** @description campaign, autoresponder, api, smtp */
                source: string;
                origin_id: string | null;
                origin_name: string;
                attempts: number;
                /** @description The remote server's reply, or why the message was given up. */
                detail: string | null;
                smtp_code: number | null;
                enhanced_code: string | null;
                next_attempt_at: string | null;
            };
            "message.bounced": {
                /** Format: uuid */
                message_id: string;
                to: string;
                from_email: string;
                /** @description campaign, autoresponder, api, smtp */
                source: string;
                origin_id: string | null;
                origin_name: string;
                attempts: number;
                /** @description The remote server's reply, or why the message was given up. */
                detail: string | null;
                smtp_code: number | null;
                enhanced_code: string | null;
                bounce_type: string;
                category: string;
            };
            "message.failed": {
                /** Format: uuid */
                message_id: string;
                to: string;
                from_email: string;
                /** @description campaign, autoresponder, api, smtp */
                source: string;
                origin_id: string | null;
                origin_name: string;
                attempts: number;
                /** @description The remote server's reply, or why the message was given up. */
                detail: string | null;
                smtp_code: number | null;
                enhanced_code: string | null;
            };
            "message.complained": {
                /** Format: uuid */
                message_id: string;
                to: string;
                from_email: string;
                /** @description campaign, autoresponder, api, smtp */
                source: string;
                origin_id: string | null;
                origin_name: string;
                attempts: number;
                /** @description The remote server's reply, or why the message was given up. */
                detail: string | null;
                smtp_code: number | null;
                enhanced_code: string | null;
                feedback_type: string;
                provider: string | null;
            };
            "message.suppressed": {
                /** Format: uuid */
                message_id: string;
                to: string;
                from_email: string;
                /** @description campaign, autoresponder, api, smtp */
                source: string;
                origin_id: string | null;
                origin_name: string;
                attempts: number;
                /** @description The remote server's reply, or why the message was given up. */
                detail: string | null;
                smtp_code: number | null;
                enhanced_code: string | null;
            };
            "message.opened": {
                /** Format: uuid */
                message_id: string;
                to: string;
                from_email: string;
                /** @description campaign, autoresponder, api, smtp */
                source: string;
                origin_id: string | null;
                origin_name: string;
                /** @description Caused by a program, such as a scanner or a prefetching proxy. */
                is_machine: boolean;
                times: number;
            };
            "message.clicked": {
                /** Format: uuid */
                message_id: string;
                to: string;
                from_email: string;
                /** @description campaign, autoresponder, api, smtp */
                source: string;
                origin_id: string | null;
                origin_name: string;
                /** @description Caused by a program, such as a scanner or a prefetching proxy. */
                is_machine: boolean;
                times: number;
                url: string | null;
            };
            "subscriber.created": {
                /** Format: uuid */
                subscriber_id: string;
                email: string;
                status: string;
                /** @description Null: all lists. */
                mailing_list_id: string | null;
            };
            "subscriber.updated": {
                /** Format: uuid */
                subscriber_id: string;
                email: string;
                status: string;
                /** @description Null: all lists. */
                mailing_list_id: string | null;
            };
            "subscriber.unsubscribed": {
                /** Format: uuid */
                subscriber_id: string;
                email: string;
                status: string;
                /** @description Null: all lists. */
                mailing_list_id: string | null;
            };
            "form.abused": {
                /** Format: uuid */
                mailing_list_id: string;
                /** @description The limit that was reached: network, list, workspace. */
                reason: string;
                /** Format: date-time */
                since: string;
                refused_last_hour: number;
            };
            "campaign.sent": {
                /** Format: uuid */
                campaign_id: string;
                name: string;
            };
            "campaign.paused": {
                /** Format: uuid */
                campaign_id: string;
                name: string;
                /** @description Why the service paused it; null when a person did. */
                reason: string | null;
            };
            "domain.verified": {
                /** Format: uuid */
                domain_id: string;
                domain: string;
            };
            "domain.failed": {
                /** Format: uuid */
                domain_id: string;
                domain: string;
                /** @description is_verified, spf_verified, dkim_verified, ... */
                lost: string[];
            };
            "blacklist.listed": {
                /** Format: uuid */
                monitor_id: string;
                target: string;
                zones: string[];
            };
            "blacklist.delisted": {
                /** Format: uuid */
                monitor_id: string;
                target: string;
                zones: string[];
            };
            "job.completed": {
                /** Format: uuid */
                job_id: string;
                job_type: string;
                /** @enum {unknown} */
                status: "completed" | "failed" | "cancelled";
                total: number | null;
                processed: number;
                succeeded: number;
                failed: number;
                skipped: number;
                error: string | null;
            };
            "webhook.test": {
                /** Format: uuid */
                webhook_id: string;
            };
        };
    };
    responses: {
        /** @description `VALIDATION_ERROR`: The request is malformed or a field is invalid. */
        VALIDATION_ERROR: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description `UNAUTHORIZED`: Missing or invalid API key. */
        UNAUTHORIZED: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /**
         * @description `FORBIDDEN`: This action is not allowed.
         *
         *     `INSUFFICIENT_SCOPE`: The API key's permissions do not cover this endpoint.
         *
         *     `SECOND_FACTOR_REQUIRED`: The workspace requires a second factor: add one to your account.
         */
        FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description `RATE_LIMIT_EXCEEDED`: Too many requests; slow down and retry. */
        RATE_LIMIT_EXCEEDED: {
            headers: {
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description `INTERNAL_ERROR`: Something failed on our side; retry shortly. */
        INTERNAL_ERROR: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /**
         * @description `FORBIDDEN`: This action is not allowed.
         *
         *     `SECOND_FACTOR_REQUIRED`: The workspace requires a second factor: add one to your account.
         */
        FORBIDDEN_or_SECOND_FACTOR_REQUIRED: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description `NOT_FOUND`: The resource does not exist. */
        NOT_FOUND: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /**
         * @description `VALIDATION_ERROR`: The request is malformed or a field is invalid.
         *
         *     `BAD_REQUEST`: The request could not be processed as sent.
         */
        VALIDATION_ERROR_or_BAD_REQUEST: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /**
         * @description `FORBIDDEN`: This action is not allowed.
         *
         *     `INSUFFICIENT_SCOPE`: The API key's permissions do not cover this endpoint.
         *
         *     `SECOND_FACTOR_REQUIRED`: The workspace requires a second factor: add one to your account.
         *
         *     `REAUTHENTICATION_REQUIRED`: Confirm that it is you, then repeat the request.
         *
         *     `SERVICE_SUSPENDED`: The workspace is suspended.
         */
        FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_REAUTHENTICATION_REQUIRED_or_SERVICE_SUSPENDED: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description `PAYLOAD_TOO_LARGE`: The request body is too large. */
        PAYLOAD_TOO_LARGE: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description `CONFLICT`: The request conflicts with existing data. */
        CONFLICT: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description `INSUFFICIENT_BALANCE`: The prepaid balance is too low. */
        INSUFFICIENT_BALANCE: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /**
         * @description `FORBIDDEN`: This action is not allowed.
         *
         *     `INSUFFICIENT_SCOPE`: The API key's permissions do not cover this endpoint.
         *
         *     `SECOND_FACTOR_REQUIRED`: The workspace requires a second factor: add one to your account.
         *
         *     `REAUTHENTICATION_REQUIRED`: Confirm that it is you, then repeat the request.
         */
        FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_REAUTHENTICATION_REQUIRED: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /**
         * @description `FORBIDDEN`: This action is not allowed.
         *
         *     `INSUFFICIENT_SCOPE`: The API key's permissions do not cover this endpoint.
         *
         *     `SECOND_FACTOR_REQUIRED`: The workspace requires a second factor: add one to your account.
         *
         *     `SERVICE_SUSPENDED`: The workspace is suspended.
         */
        FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description `PLAN_LIMIT_REACHED`: The plan's monthly volume is used up. */
        PLAN_LIMIT_REACHED: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /**
         * @description `PLAN_LIMIT_REACHED`: The plan's monthly volume is used up.
         *
         *     `INSUFFICIENT_BALANCE`: The prepaid balance is too low.
         */
        PLAN_LIMIT_REACHED_or_INSUFFICIENT_BALANCE: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /**
         * @description `FORBIDDEN`: This action is not allowed.
         *
         *     `INSUFFICIENT_SCOPE`: The API key's permissions do not cover this endpoint.
         *
         *     `EMAIL_NOT_VERIFIED`: The sender address or domain is not verified yet.
         *
         *     `SECOND_FACTOR_REQUIRED`: The workspace requires a second factor: add one to your account.
         *
         *     `SERVICE_SUSPENDED`: The workspace is suspended.
         */
        FORBIDDEN_or_INSUFFICIENT_SCOPE_or_EMAIL_NOT_VERIFIED_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
    };
    parameters: {
        /** @description For 24 hours, a request with the same key and the same body gets the first response again, with `Idempotent-Replayed: true`. */
        IdempotencyKey: string;
    };
    requestBodies: never;
    headers: {
        /** @description Largest burst of requests. */
        "RateLimit-Limit": number;
        /** @description Requests that are left now. */
        "RateLimit-Remaining": number;
        /** @description Seconds until the whole burst is available again. */
        "RateLimit-Reset": number;
        /** @description Seconds to wait before the next request. */
        "Retry-After": number;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listApiKeys: {
        parameters: {
            query?: {
                /** @description Lists deactivated keys as well. */
                show_inactive?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description API keys */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ApiKey"][];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    createApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewApiKey"];
            };
        };
        responses: {
            /** @description API key created; its secret is not shown again */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["IssuedApiKey"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR_or_BAD_REQUEST"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_REAUTHENTICATION_REQUIRED_or_SERVICE_SUSPENDED"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listPermissions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Permission catalogue */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["PermissionCatalogue"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    getApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description API key */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ApiKey"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    updateApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApiKeyChanges"];
            };
        };
        responses: {
            /** @description API key updated */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ApiKey"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_REAUTHENTICATION_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    deactivateApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description API key deactivated */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ApiKey"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_REAUTHENTICATION_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    regenerateApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description New secret created; it is not shown again, and the old one has stopped working */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["IssuedApiKey"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_REAUTHENTICATION_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    reactivateApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description API key reactivated */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ApiKey"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_REAUTHENTICATION_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    deleteApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description API key deleted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Deleted"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_REAUTHENTICATION_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    getBillingOverview: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Billing overview */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["BillingOverview"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    getBillingUsage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Billing usage */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["BillingUsage"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    getSubscription: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Subscription */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            subscription: components["schemas"]["Subscription"] | null;
                        };
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    subscribe: {
        parameters: {
            query?: never;
            header?: {
                /** @description For 24 hours, a request with the same key and the same body gets the first response again, with `Idempotent-Replayed: true`. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SubscriptionInput"];
            };
        };
        responses: {
            /** @description Subscribe, or change plan or interval; applies at once, and the price difference is taken from the balance */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            subscription: components["schemas"]["Subscription"] | null;
                        };
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR_or_BAD_REQUEST"];
            401: components["responses"]["UNAUTHORIZED"];
            402: components["responses"]["INSUFFICIENT_BALANCE"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_REAUTHENTICATION_REQUIRED"];
            409: components["responses"]["CONFLICT"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listPlans: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Plans */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Plan"][];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    cancelSubscription: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Cancel the subscription at the end of its current period */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            subscription: components["schemas"]["Subscription"] | null;
                        };
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_REAUTHENTICATION_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listTransactions: {
        parameters: {
            query?: {
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Rows per page, at most 200. */
                limit?: number;
                /** @description Only transactions with this status. */
                status?: "pending" | "completed" | "failed";
                /** @description Only transactions of this payment provider. */
                gateway?: "stripe" | "manual";
                /** @description Only transactions older than the one with this id. Pass the last id of a page to get the next one, unaffected by new transactions. */
                before?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Transactions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            transactions: components["schemas"]["Transaction"][];
                            pagination: components["schemas"]["Pagination"];
                        };
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    exportTransactions: {
        parameters: {
            query?: {
                /** @description Only transactions with this status. */
                status?: "pending" | "completed" | "failed";
                /** @description Only transactions of this payment provider. */
                gateway?: "stripe" | "manual";
                /** @description Only transactions older than the one with this id. Pass the last id of a page to get the next one, unaffected by new transactions. */
                before?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The ledger as a CSV file */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": string;
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    createTopUp: {
        parameters: {
            query?: never;
            header?: {
                /** @description For 24 hours, a request with the same key and the same body gets the first response again, with `Idempotent-Replayed: true`. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TopUpInput"];
            };
        };
        responses: {
            /** @description Top-up started */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["TopUp"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR_or_BAD_REQUEST"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_REAUTHENTICATION_REQUIRED"];
            409: components["responses"]["CONFLICT"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listMailingLists: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Mailing lists */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["MailingList"][];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    createMailingList: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewMailingList"];
            };
        };
        responses: {
            /** @description Mailing list created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["MailingList"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR_or_BAD_REQUEST"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    getMailingListStats: {
        parameters: {
            query?: {
                /** @description Days, today included. */
                window?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Mailing list stats */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["MailingListStats"][];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    getMailingList: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Mailing list */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["MailingList"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    updateMailingList: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MailingListChanges"];
            };
        };
        responses: {
            /** @description Mailing list updated */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["MailingList"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    deleteMailingList: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Mailing list deleted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Deleted"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_REAUTHENTICATION_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    getSignupForm: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Sign-up form */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["SignupForm"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    updateSignupForm: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignupFormInput"];
            };
        };
        responses: {
            /** @description Open or close the sign-up form of a list; people who fill it in join by a link that is mailed to them */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["SignupForm"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listMembers: {
        parameters: {
            query?: {
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Rows per page, at most 200. */
                limit?: number;
                /** @description `next_cursor` of a response with the same filter: returns the rows after it, even if rows were added or removed meanwhile. `page` is then ignored. */
                after?: string;
                /** @description Only those in this state. */
                status?: "active" | "unsubscribed" | "bounced" | "complained";
                /** @description Words of the name or the local part, the last one may be a prefix; or the beginning of an address or a domain. The middle of a word is not found. International domains are found in either script, by whole labels. Finds 2,000 people at most. */
                search?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Subscribers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            subscribers: components["schemas"]["Member"][];
                            pagination: components["schemas"]["Pagination"];
                        };
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    addMember: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewMemberInput"];
            };
        };
        responses: {
            /** @description Add a person to a list; a person of another list stays the same person */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["MemberWithWarnings"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            402: components["responses"]["PLAN_LIMIT_REACHED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    removeAllMembers: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Remove all members of a list; people on no other list are deleted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["DeletedCount"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_REAUTHENTICATION_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    updateMember: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                subscriber_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemberChanges"];
            };
        };
        responses: {
            /** @description Subscriber updated */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["MemberWithWarnings"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    removeMember: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                subscriber_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Subscriber deleted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Deleted"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    setMemberStatus: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                subscriber_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SubscriberStatusInput"];
            };
        };
        responses: {
            /** @description Set a subscriber's status; bounced and complained apply to every list, and suppress the address */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["MemberWithWarnings"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listSubscribers: {
        parameters: {
            query?: {
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Rows per page, at most 200. */
                limit?: number;
                /** @description `next_cursor` of a response with the same filter: returns the rows after it, even if rows were added or removed meanwhile. `page` is then ignored. */
                after?: string;
                /** @description Only those in this state; with list_id, on that list. */
                status?: "active" | "unsubscribed" | "bounced" | "complained";
                /** @description Words of the name or the local part, the last one may be a prefix; or the beginning of an address or a domain. The middle of a word is not found. International domains are found in either script, by whole labels. Finds 2,000 people at most. */
                search?: string;
                /** @description Only those on this list. */
                list_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Subscribers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            subscribers: components["schemas"]["SubscriberSummary"][];
                            pagination: components["schemas"]["Pagination"];
                        };
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    getSubscriber: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Subscriber */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["SubscriberDetail"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    importSubscribers: {
        parameters: {
            query?: {
                /** @description Only report what the import would do: the job changes nothing, and its result is the report. */
                dry_run?: boolean;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["SubscriberImport"];
            };
        };
        responses: {
            /** @description Import subscribers from a CSV file, in the background */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ImportStarted"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR_or_BAD_REQUEST"];
            401: components["responses"]["UNAUTHORIZED"];
            402: components["responses"]["PLAN_LIMIT_REACHED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    exportSubscribers: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SubscriberExport"];
            };
        };
        responses: {
            /** @description The export has started */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["JobStarted"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            402: components["responses"]["PLAN_LIMIT_REACHED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_REAUTHENTICATION_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listCustomFields: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Custom fields */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["CustomField"][];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    createCustomField: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewCustomField"];
            };
        };
        responses: {
            /** @description Custom field created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["CustomField"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR_or_BAD_REQUEST"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    updateCustomField: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                field_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CustomFieldChanges"];
            };
        };
        responses: {
            /** @description Custom field updated */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["CustomField"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    deleteCustomField: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                field_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Custom field deleted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Deleted"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listGlobalCustomFields: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Global custom fields */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["CustomField"][];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    createGlobalCustomField: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewCustomField"];
            };
        };
        responses: {
            /** @description Global custom field created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["CustomField"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR_or_BAD_REQUEST"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            409: components["responses"]["CONFLICT"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    updateGlobalCustomField: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                field_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CustomFieldChanges"];
            };
        };
        responses: {
            /** @description Global custom field updated */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["CustomField"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    deleteGlobalCustomField: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                field_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Global custom field deleted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Deleted"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listSegments: {
        parameters: {
            query?: {
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Rows per page, at most 200. */
                limit?: number;
                /** @description A part of the name. */
                search?: string;
                /** @description Only those of this mailing list. */
                list_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Segments */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            segments: components["schemas"]["Segment"][];
                            pagination: components["schemas"]["Pagination"];
                        };
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listSegmentsOfList: {
        parameters: {
            query?: {
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Rows per page, at most 200. */
                limit?: number;
                /** @description A part of the name. */
                search?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Segments */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            segments: components["schemas"]["Segment"][];
                            pagination: components["schemas"]["Pagination"];
                        };
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    createSegment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSegment"];
            };
        };
        responses: {
            /** @description Segment created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Segment"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR_or_BAD_REQUEST"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    previewSegment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SegmentPreviewInput"];
            };
        };
        responses: {
            /** @description Count the people who meet conditions, without saving them */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["SegmentPreview"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR_or_BAD_REQUEST"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    getSegment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                segment_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Segment */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Segment"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    updateSegment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                segment_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SegmentChanges"];
            };
        };
        responses: {
            /** @description Segment updated */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Segment"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    deleteSegment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                segment_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Segment deleted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Deleted"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listSegmentMembers: {
        parameters: {
            query?: {
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Rows per page, at most 200. */
                limit?: number;
                /** @description `next_cursor` of a response with the same filter: returns the rows after it, even if rows were added or removed meanwhile. `page` is then ignored. */
                after?: string;
                /** @description As in the subscribers of a list. Finds 2,000 people at most. */
                search?: string;
            };
            header?: never;
            path: {
                id: string;
                segment_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Subscribers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            subscribers: components["schemas"]["Member"][];
                            pagination: components["schemas"]["Pagination"];
                        };
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR_or_BAD_REQUEST"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listSegmentsOfSubscriber: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Segments */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["SegmentOfSubscriber"][];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR_or_BAD_REQUEST"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listSuppressionLists: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Suppression lists */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            suppression_lists: components["schemas"]["SuppressionList"][];
                        };
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    createSuppressionList: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSuppressionList"];
            };
        };
        responses: {
            /** @description Suppression list created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["SuppressionList"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR_or_BAD_REQUEST"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    getSuppressionList: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Suppression list */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["SuppressionList"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    updateSuppressionList: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SuppressionListChanges"];
            };
        };
        responses: {
            /** @description Suppression list updated */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["SuppressionList"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    deleteSuppressionList: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Suppression list deleted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Deleted"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listSuppressionEntries: {
        parameters: {
            query?: {
                /** @description Page to return, from 1. */
                page?: number;
                /** @description `next_cursor` of a response with the same filter: returns the rows after it, even if rows were added or removed meanwhile. `page` is then ignored. */
                after?: string;
                /** @description Only entries that begin with this; international domains in either script, by whole labels. Finds 5,000 at most. */
                search?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Suppression entries */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["SuppressionEntry"][] | null;
                        /** @description Value for `after`; null if there are no more rows. */
                        next_cursor: string | null;
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    addSuppressionEntries: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSuppressionEntries"];
            };
        };
        responses: {
            /** @description Add addresses and domains to a list, one a line */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["AddedEntries"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            402: components["responses"]["PLAN_LIMIT_REACHED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    importSuppressionEntries: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["SuppressionImport"];
            };
        };
        responses: {
            /** @description Add the addresses and domains of a file to a list, all or nothing */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["AddedEntries"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR_or_BAD_REQUEST"];
            401: components["responses"]["UNAUTHORIZED"];
            402: components["responses"]["PLAN_LIMIT_REACHED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    deleteSuppressionEntry: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                entry_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Suppression entry deleted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Deleted"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    testSuppression: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SuppressionQuestion"];
            };
        };
        responses: {
            /** @description Check whether a list suppresses an address or domain */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["SuppressionTest"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listSendingDomains: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Sending domains */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["SendingDomain"][];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    createSendingDomain: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SendingDomainInput"];
            };
        };
        responses: {
            /** @description Add a sending domain, and generate its DKIM key */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["SendingDomain"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR_or_BAD_REQUEST"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            409: components["responses"]["CONFLICT"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    deleteSendingDomain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Sending domain deleted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Deleted"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    getSendingDomainDnsStatus: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description DNS status */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["DnsStatus"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    verifySendingDomain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Check the DNS now and update every flag */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["DomainVerification"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    setCustomReturnPath: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Switch"];
            };
        };
        responses: {
            /** @description Custom return path updated */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["DnsStatus"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    setDmarcIngestion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Switch"];
            };
        };
        responses: {
            /** @description DMARC ingestion updated */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["DnsStatus"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listVerifiedSenders: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Verified senders */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["VerifiedSender"][];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    createVerifiedSender: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VerifiedSenderInput"];
            };
        };
        responses: {
            /** @description Add a sender address and mail it a confirmation link */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["NewVerifiedSender"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR_or_BAD_REQUEST"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            409: components["responses"]["CONFLICT"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    resendVerifiedSenderLink: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Mail a new confirmation link, at most once a minute; older links stop working */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["VerifiedSender"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    deleteVerifiedSender: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Verified sender deleted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Deleted"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listDkimKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description DKIM keys */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["DkimKey"][];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    createDkimKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DkimKeyInput"];
            };
        };
        responses: {
            /** @description Generate a DKIM key for a sending domain */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["NewDkimKey"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            409: components["responses"]["CONFLICT"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    verifyDkimKeyDns: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Check that the published record matches the key */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["DkimKeyVerification"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    deleteDkimKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description DKIM key deleted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Deleted"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listTrackingDomains: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Tracking domains */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["TrackingDomain"][];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    createTrackingDomain: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TrackingDomainInput"];
            };
        };
        responses: {
            /** @description Add a tracking domain */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["TrackingDomain"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            409: components["responses"]["CONFLICT"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    getTrackingDomain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Tracking domain */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["TrackingDomain"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    updateTrackingDomain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TrackingDomainUpdate"];
            };
        };
        responses: {
            /** @description Tracking domain updated */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["TrackingDomain"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    deleteTrackingDomain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Tracking domain deleted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Deleted"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    verifyTrackingDomain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Look for the CNAME record now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["TrackingDomainVerification"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listSendingIps: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Sending IPs */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["SendingIp"][];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    createSendingIp: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SendingIpInput"];
            };
        };
        responses: {
            /** @description Claim an address of the delivery machines for this workspace */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["SendingIp"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            409: components["responses"]["CONFLICT"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    getSendingIp: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Sending IP */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["SendingIp"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    deleteSendingIp: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Sending IP deleted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Deleted"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    updateSendingIp: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SendingIpUpdate"];
            };
        };
        responses: {
            /** @description Sending IP updated */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["SendingIp"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listRoutingRules: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Routing rules */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["RoutingRule"][];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    createRoutingRule: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RoutingRuleInput"];
            };
        };
        responses: {
            /** @description Routing rule created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["RoutingRule"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            409: components["responses"]["CONFLICT"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    getRoutingRule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Routing rule */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["RoutingRule"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    deleteRoutingRule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Routing rule deleted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Deleted"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    updateRoutingRule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RoutingRuleUpdate"];
            };
        };
        responses: {
            /** @description Routing rule updated */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["RoutingRule"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listDmarcReports: {
        parameters: {
            query?: {
                /** @description Number of days up to now. */
                window_days?: number;
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Rows per page, at most 200. */
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description DMARC reports */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["DmarcReports"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listTlsReports: {
        parameters: {
            query?: {
                /** @description Number of days up to now. */
                window_days?: number;
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Rows per page, at most 200. */
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description TLS reports */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["TlsReports"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listCampaigns: {
        parameters: {
            query?: {
                /** @description Only campaigns in this status. */
                status?: "draft" | "scheduled" | "sending" | "sent" | "paused" | "cancelled";
                /** @description A part of name or subject. */
                search?: string;
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Rows per page, at most 200. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Campaigns */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            campaigns: components["schemas"]["CampaignSummary"][];
                            pagination: components["schemas"]["Pagination"];
                        };
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    createCampaign: {
        parameters: {
            query?: never;
            header?: {
                /** @description For 24 hours, a request with the same key and the same body gets the first response again, with `Idempotent-Replayed: true`. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewCampaign"];
            };
        };
        responses: {
            /** @description Campaign created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Campaign"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR_or_BAD_REQUEST"];
            401: components["responses"]["UNAUTHORIZED"];
            402: components["responses"]["PLAN_LIMIT_REACHED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            409: components["responses"]["CONFLICT"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    getCampaign: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Campaign */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Campaign"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    replaceCampaign: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewCampaign"];
            };
        };
        responses: {
            /** @description Campaign updated */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Campaign"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            402: components["responses"]["PLAN_LIMIT_REACHED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    deleteCampaign: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Campaign deleted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Deleted"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    sendCampaign: {
        parameters: {
            query?: never;
            header?: {
                /** @description For 24 hours, a request with the same key and the same body gets the first response again, with `Idempotent-Replayed: true`. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SendOrder"];
            };
        };
        responses: {
            /** @description Send a draft now, or at its scheduled time */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Campaign"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR_or_BAD_REQUEST"];
            401: components["responses"]["UNAUTHORIZED"];
            402: components["responses"]["PLAN_LIMIT_REACHED_or_INSUFFICIENT_BALANCE"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_EMAIL_NOT_VERIFIED_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    pauseCampaign: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Campaign paused */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Campaign"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    resumeCampaign: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Campaign resumed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Campaign"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    cancelCampaign: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Campaign cancelled */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Campaign"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    unscheduleCampaign: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Campaign is a draft again */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Campaign"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    duplicateCampaign: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Campaign duplicated */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Campaign"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR_or_BAD_REQUEST"];
            401: components["responses"]["UNAUTHORIZED"];
            402: components["responses"]["PLAN_LIMIT_REACHED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    testCampaign: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TestOrder"];
            };
        };
        responses: {
            /** @description Test sent */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            messages: {
                                id: string;
                                to: string;
                            }[];
                        };
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR_or_BAD_REQUEST"];
            401: components["responses"]["UNAUTHORIZED"];
            402: components["responses"]["PLAN_LIMIT_REACHED_or_INSUFFICIENT_BALANCE"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_EMAIL_NOT_VERIFIED_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    getCampaignActivity: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Campaign activity */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["CampaignHour"][];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    getCampaignDomainStats: {
        parameters: {
            query?: {
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Rows per page, at most 200. */
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Delivery by domain */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            stats: components["schemas"]["DomainStats"][];
                            pagination: components["schemas"]["Pagination"];
                        };
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listCampaignMessages: {
        parameters: {
            query?: {
                /** @description Only messages in this status. */
                status?: "queued" | "sending" | "delivered" | "deferred" | "bounced" | "failed" | "suppressed" | "cancelled" | "complained";
                /** @description A recipient's address, or a part of it, in any case. A whole address finds all of its messages; a part is searched in the newest 10,000 messages that match the other filters. */
                email?: string;
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Rows per page, at most 200. */
                limit?: number;
                /** @description `next_cursor` of a response with the same filter: returns the rows after it, even if rows were added or removed meanwhile. `page` is then ignored. */
                after?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Campaign messages */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            messages: components["schemas"]["CampaignMessage"][];
                            pagination: components["schemas"]["Pagination"];
                            /** @description Messages older than this were not searched; null when all were. */
                            searched_since: string | null;
                        };
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listCampaignActivities: {
        parameters: {
            query?: {
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Rows per page, at most 200. */
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Recent activity */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            activities: components["schemas"]["CampaignActivity"][];
                            pagination: components["schemas"]["Pagination"];
                        };
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listCampaignLinks: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Campaign links */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["CampaignLink"][];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listAutoresponders: {
        parameters: {
            query?: {
                /** @description Only autoresponders in this status. */
                status?: "inactive" | "active";
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Rows per page, at most 200. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Autoresponders */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            autoresponders: components["schemas"]["AutoresponderSummary"][];
                            pagination: components["schemas"]["Pagination"];
                        };
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    createAutoresponder: {
        parameters: {
            query?: never;
            header?: {
                /** @description For 24 hours, a request with the same key and the same body gets the first response again, with `Idempotent-Replayed: true`. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewAutoresponder"];
            };
        };
        responses: {
            /** @description Autoresponder created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Autoresponder"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR_or_BAD_REQUEST"];
            401: components["responses"]["UNAUTHORIZED"];
            402: components["responses"]["PLAN_LIMIT_REACHED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            409: components["responses"]["CONFLICT"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    getAutoresponder: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Autoresponder */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Autoresponder"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    replaceAutoresponder: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewAutoresponder"];
            };
        };
        responses: {
            /** @description Autoresponder updated */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Autoresponder"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR_or_BAD_REQUEST"];
            401: components["responses"]["UNAUTHORIZED"];
            402: components["responses"]["PLAN_LIMIT_REACHED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    deleteAutoresponder: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Autoresponder deleted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Deleted"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    activateAutoresponder: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Autoresponder activated */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Autoresponder"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR_or_BAD_REQUEST"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_EMAIL_NOT_VERIFIED_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    deactivateAutoresponder: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Autoresponder deactivated */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Autoresponder"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    sendEmail: {
        parameters: {
            query?: {
                /** @description Check everything, send nothing; answered 200. */
                dry_run?: boolean;
            };
            header?: {
                /** @description For 24 hours, a request with the same key and the same body gets the first response again, with `Idempotent-Replayed: true`. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Email"];
            };
        };
        responses: {
            /** @description Email queued for delivery */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["QueuedEmail"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            402: components["responses"]["PLAN_LIMIT_REACHED_or_INSUFFICIENT_BALANCE"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            409: components["responses"]["CONFLICT"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    checkBlacklists: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BlacklistCheckInput"];
            };
        };
        responses: {
            /** @description Check an IP address or a domain against all blacklists now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["BlacklistCheck"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            402: components["responses"]["PLAN_LIMIT_REACHED_or_INSUFFICIENT_BALANCE"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listBlacklistMonitors: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Blacklist monitors */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["BlacklistMonitor"][];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    createBlacklistMonitor: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BlacklistMonitorInput"];
            };
        };
        responses: {
            /** @description Create a monitor for an IP address or a domain, at most 1000 per workspace; it runs within a minute */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["BlacklistMonitor"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            409: components["responses"]["CONFLICT"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    getBlacklistMonitor: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Blacklist monitor */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["BlacklistMonitor"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    deleteBlacklistMonitor: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Blacklist monitor deleted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Deleted"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    updateBlacklistMonitor: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BlacklistMonitorUpdate"];
            };
        };
        responses: {
            /** @description Blacklist monitor updated */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["BlacklistMonitor"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listBlacklistHistory: {
        parameters: {
            query?: {
                /** @description First day, in the workspace's time zone. */
                from?: string;
                /** @description Last day, inclusive. */
                to?: string;
                /** @description Only checks of this target. */
                target?: string;
                /** @description Only manual or scheduled checks. */
                check_type?: "manual" | "scheduled";
                /** @description Only the runs of this monitor, which may be deleted. */
                monitor_id?: string;
                /** @description Rows per page, at most 200. */
                limit?: number;
                /** @description Rows to skip. */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Blacklist checks */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["BlacklistHistoryRow"][];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    validateEmail: {
        parameters: {
            query?: never;
            header?: {
                /** @description For 24 hours, a request with the same key and the same body gets the first response again, with `Idempotent-Replayed: true`. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ValidationRequest"];
            };
        };
        responses: {
            /** @description Validate one address */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Validation"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            402: components["responses"]["PLAN_LIMIT_REACHED_or_INSUFFICIENT_BALANCE"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            409: components["responses"]["CONFLICT"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    validateFile: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["BulkValidation"];
            };
        };
        responses: {
            /** @description The validation has started */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["JobStarted"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            402: components["responses"]["PLAN_LIMIT_REACHED_or_INSUFFICIENT_BALANCE"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            409: components["responses"]["CONFLICT"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listValidations: {
        parameters: {
            query?: {
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Rows per page, at most 200. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Validation history */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ValidationHistoryRow"][];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    getValidationUsage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Validation usage */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ValidationUsage"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    getValidationStats: {
        parameters: {
            query?: {
                /** @description Number of days up to now. */
                days?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Validation statistics */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ValidationStats"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listMessages: {
        parameters: {
            query?: {
                /** @description Only messages of this channel. */
                source?: "campaign" | "autoresponder" | "api" | "smtp" | "platform";
                /** @description A recipient's address, or a part of it, in any case. A whole address finds all of its messages; a part is searched in the newest 10,000 messages that match the other filters. */
                email?: string;
                /** @description Only messages with this status. */
                status?: "queued" | "sending" | "delivered" | "deferred" | "bounced" | "failed" | "suppressed" | "cancelled" | "complained";
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Rows per page, at most 200. */
                limit?: number;
                /** @description `next_cursor` of a response with the same filter: returns the rows after it, even if rows were added or removed meanwhile. `page` is then ignored. */
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Messages */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            messages: components["schemas"]["MessageLogRow"][];
                            pagination: components["schemas"]["Pagination"];
                            /** @description Messages older than this were not searched; null when all were. */
                            searched_since: string | null;
                        };
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    getMessage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Message */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Message"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listBounces: {
        parameters: {
            query?: {
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Rows per page, at most 200. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Bounces */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            bounces: components["schemas"]["Bounce"][];
                            pagination: components["schemas"]["Pagination"];
                        };
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listComplaints: {
        parameters: {
            query?: {
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Rows per page, at most 200. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Complaints */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            complaints: components["schemas"]["Complaint"][];
                            pagination: components["schemas"]["Pagination"];
                        };
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    getBouncesComplaints: {
        parameters: {
            query?: {
                /** @description Number of days up to now. */
                window_days?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Bounces and complaints */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["BouncesComplaints"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    getDashboard: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Dashboard */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Dashboard"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    getSendingChart: {
        parameters: {
            query?: {
                /** @description YYYY-MM-DD, inclusive, in the workspace's time zone. */
                start_date?: string;
                /** @description YYYY-MM-DD, inclusive, in the workspace's time zone. */
                end_date?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Daily figures */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ChartDay"][];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    getSendingHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Sending health */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["SendingHealth"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listCampaignStats: {
        parameters: {
            query?: {
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Rows per page, at most 200. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Sending statistics */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            stats: components["schemas"]["CampaignStats"][];
                            pagination: components["schemas"]["Pagination"];
                        };
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listAutoresponderStats: {
        parameters: {
            query?: {
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Rows per page, at most 200. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Sending statistics */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            stats: components["schemas"]["AutoresponderStats"][];
                            pagination: components["schemas"]["Pagination"];
                        };
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listSmtpStats: {
        parameters: {
            query?: {
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Rows per page, at most 200. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Sending statistics */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            stats: components["schemas"]["KeyStats"][];
                            pagination: components["schemas"]["Pagination"];
                        };
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listApiStats: {
        parameters: {
            query?: {
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Rows per page, at most 200. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Sending statistics */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            stats: components["schemas"]["KeyStats"][];
                            pagination: components["schemas"]["Pagination"];
                        };
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    getDeliverability: {
        parameters: {
            query?: {
                /** @description Number of days up to now. */
                window_days?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deliverability */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Deliverability"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listRecipientDomains: {
        parameters: {
            query?: {
                /** @description Number of days up to now. */
                window_days?: number;
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Rows per page, at most 200. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Recipient domains */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            stats: components["schemas"]["DomainStats"][];
                            total_row: components["schemas"]["DomainStats"];
                            /** @description As applied. */
                            window_days: number;
                            pagination: components["schemas"]["Pagination"];
                        };
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listJobs: {
        parameters: {
            query?: {
                /** @description Only jobs of this type. */
                type?: "subscriber_import" | "subscriber_export" | "validation_bulk";
                /** @description Only jobs in this state. */
                status?: "pending" | "processing" | "completed" | "failed" | "cancelled";
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Rows per page, at most 200. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Jobs */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            jobs: components["schemas"]["Job"][];
                            pagination: components["schemas"]["Pagination"];
                        };
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    getJob: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Job */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Job"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    downloadJobResult: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Download the result file of a job, available for seven days */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": string;
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    downloadJobErrors: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Download the rows that a job rejected with their reasons, available for seven days */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": string;
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    cancelJob: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Cancel a job: at once if it waits, within seconds if it runs */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Job"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listWebhooks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Webhooks */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Webhook"][];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookInput"];
            };
        };
        responses: {
            /** @description Webhook created: keep the secret, it is not shown again */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["WebhookWithSecret"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            409: components["responses"]["CONFLICT"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Webhook */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Webhook"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Webhook deleted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Deleted"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    updateWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookUpdate"];
            };
        };
        responses: {
            /** @description Webhook updated */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Webhook"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            413: components["responses"]["PAYLOAD_TOO_LARGE"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Secret rotated: keep the new one, it is not shown again */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["WebhookWithSecret"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_REAUTHENTICATION_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The test event is queued: its delivery shows the result */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["WebhookDelivery"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                /** @description Page to return, from 1. */
                page?: number;
                /** @description Rows per page, at most 200. */
                limit?: number;
                /** @description `next_cursor` of a response with the same filter: returns the rows after it, even if rows were added or removed meanwhile. `page` is then ignored. */
                after?: string;
                /** @description Only deliveries with this status. */
                status?: "pending" | "delivered" | "failed";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deliveries */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            deliveries: components["schemas"]["WebhookDelivery"][];
                            pagination: components["schemas"]["Pagination"];
                        };
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED"];
            404: components["responses"]["NOT_FOUND"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
    replayWebhookDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                delivery_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery is queued */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["WebhookDelivery"];
                        message: string;
                        warnings?: components["schemas"]["IgnoredNames"];
                    };
                };
            };
            400: components["responses"]["VALIDATION_ERROR"];
            401: components["responses"]["UNAUTHORIZED"];
            403: components["responses"]["FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED"];
            404: components["responses"]["NOT_FOUND"];
            409: components["responses"]["CONFLICT"];
            429: components["responses"]["RATE_LIMIT_EXCEEDED"];
            500: components["responses"]["INTERNAL_ERROR"];
        };
    };
}
