"""Lists the attacks, each with the codes that the server must answer to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import backups
import budgets
import connections
import credentials
import frames
import links
import names
import other_tenants
import proxies
import reading
import request_ids
import requests_
import shares
import stopped
from ground import Ground


@dataclass(frozen=True)
class Attempt:
    """One row of the table.

    Attributes
    ----------
    attack : callable
        What the attacker does. It returns the codes that the server answered.
    codes : str
        The codes that it must have answered, each at least once, and no others. ``ok`` is an
        answer without an error.
    short : bool
        Whether `./run test` runs it too.
    options : tuple of str
        The server's options.
    """

    attack: Callable[[Ground], Iterable[str]]
    codes: str
    short: bool = False
    options: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The names of the attack's module and function."""
        return f"{self.attack.__module__}.{self.attack.__name__}"


ATTEMPTS = (
    Attempt(backups.files_that_come_and_go, "ok"),
    Attempt(budgets.checkpoints_over_many_attempts, "ok checkpoint_quota", short=True),
    Attempt(budgets.checkpoints_over_quota, "device_share quota_exceeded"),
    Attempt(budgets.artifacts_of_one_device, "ok device_share", short=True),
    Attempt(budgets.artifact_ids_of_other_trials, "ok"),
    Attempt(budgets.attempts_without_end, "lease wait", short=True),
    Attempt(budgets.failures_without_end, "lease wait", short=True),
    Attempt(budgets.points_without_end, "ack points_quota"),
    Attempt(budgets.series_names_without_end, "ack series_count"),
    Attempt(budgets.attributes_without_end, "quota_exceeded",
            options=("--message-kib-burst", "1000000")),
    Attempt(budgets.lines_without_end, "ok", options=("--message-kib-burst", "1000000")),
    Attempt(budgets.specs_without_end, "ok quota_exceeded"),
    Attempt(budgets.devices_without_end, "ok rate_limited", options=("--joins-burst", "20")),
    Attempt(budgets.devices_for_every_place, "ok too_many_devices",
            options=("--max-devices", "200")),
    Attempt(budgets.changes_without_end, "rate_limited ok"),
    Attempt(budgets.reports_without_end, "ok rate_limited"),
    Attempt(budgets.files_for_another_device, "unknown_attempt"),
    Attempt(connections.more_than_one_address_may_have, "too_many_connections", short=True,
            options=("--max-connections-per-address", "64")),
    Attempt(connections.half_a_request_head, "closed"),
    Attempt(connections.one_byte_at_a_time, "headers_too_large"),
    Attempt(connections.silent_websockets, "hello_timeout", options=("--hello-ms", "500")),
    Attempt(connections.two_lengths, "bad_request"),
    Attempt(connections.chunked_body, "length_required"),
    Attempt(connections.not_http, "bad_request", short=True),
    Attempt(connections.body_that_never_comes, "unauthorized closed"),
    Attempt(connections.body_by_drops, "closed"),
    Attempt(connections.strangers_fill_the_console, "ok closed", short=True,
            options=("--max-console-connections", "64")),
    Attempt(connections.devices_fill_the_compute_origin, "ok",
            options=("--max-connections", "64")),
    Attempt(connections.large_message_before_hello, "frame_too_large", short=True),
    Attempt(connections.half_open_websockets, "ok", options=("--hello-ms", "60000")),
    Attempt(credentials.wrong_join_codes, "bad_enrolment_code rate_limited", short=True),
    Attempt(credentials.wrong_tokens, "unauthorized rate_limited"),
    Attempt(credentials.wrong_device_secrets, "unauthorized rate_limited"),
    Attempt(credentials.hello_of_another_device, "bad_token rate_limited"),
    Attempt(credentials.register_without_end, "ok rate_limited"),
    Attempt(credentials.register_from_another_page, "cross_origin not_json", short=True),
    Attempt(credentials.metrics_through_a_name, "unauthorized"),
    Attempt(credentials.revoked_join_link, "bad_enrolment_code"),
    Attempt(credentials.join_and_erase_in_a_loop, "ok unauthorized rate_limited", short=True,
            options=("--joins-burst", "12", "--joins-per-s", "0.001")),
    Attempt(credentials.own_token_after_suspension, "suspended"),
    Attempt(frames.not_json, "malformed", short=True),
    Attempt(frames.too_large, "frame_too_large closed"),
    Attempt(frames.deeply_nested, "malformed"),
    Attempt(frames.duplicate_keys, "malformed"),
    Attempt(frames.message_without_end, "message_too_slow"),
    Attempt(frames.binary, "malformed"),
    Attempt(frames.unknown_types, "unknown_type"),
    Attempt(frames.results_for_other_attempts, "unknown_attempt", short=True),
    Attempt(frames.infinite_values, "malformed bad_number"),
    Attempt(frames.hello_twice, "unknown_type"),
    Attempt(frames.heartbeats_without_end, "ok"),
    Attempt(frames.large_frames_without_end, "ack message_quota closed", short=True,
            options=("--message-kib-burst", "8192", "--message-kib-per-s", "0.001")),
    Attempt(frames.sessions_of_one_device, "welcome closed"),
    Attempt(links.forge_links, "bad_link rate_limited", short=True),
    Attempt(links.links_for_blobs_of_others, "unknown_blob unauthorized"),
    Attempt(links.links_after_the_end, "unknown_blob", short=True),
    Attempt(links.a_hundred_thousand_links, "ok"),
    Attempt(names.hidden_characters, "bad_name", short=True),
    Attempt(names.names_of_administrators, "name_confusable", short=True),
    Attempt(names.one_name_in_two_forms, "name_taken"),
    Attempt(names.hidden_engine, "ok"),
    Attempt(names.read_the_first_token, "ok"),
    Attempt(other_tenants.read_studies, "unknown_study", short=True),
    Attempt(other_tenants.change_studies, "unknown_study"),
    Attempt(other_tenants.administer, "forbidden"),
    Attempt(other_tenants.make_links_for_another_project, "bad_field"),
    Attempt(other_tenants.submit_into_another_project, "bad_field"),
    Attempt(other_tenants.revoke_others, "unknown_token forbidden unknown_enrolment"),
    Attempt(other_tenants.download_blobs_of_others, "unknown_blob"),
    Attempt(proxies.name_a_new_address_each_time, "bad_enrolment_code rate_limited"),
    Attempt(proxies.write_before_the_proxy, "bad_enrolment_code rate_limited", short=True,
            options=proxies.PROXIES),
    Attempt(proxies.use_a_whole_network, "bad_enrolment_code rate_limited",
            options=proxies.PROXIES),
    Attempt(proxies.malformed_addresses, "bad_forwarded", options=proxies.PROXIES),
    Attempt(proxies.begin_with_a_proxys_header, "bad_proxy_header"),
    Attempt(proxies.wrong_headers_of_a_proxy, "bad_proxy_header", options=proxies.PROXIES),
    Attempt(proxies.flood_through_one_proxy, "too_many_connections ok",
            options=(*proxies.PROXIES, "--max-connections-per-address", "64")),
    Attempt(proxies.a_thousand_phones_behind_two_proxies, "ok", options=proxies.PROXIES),
    Attempt(request_ids.ids_of_others, "ok unauthorized", short=True,
            options=("--log-level", "debug")),
    Attempt(request_ids.headers_in_an_id, "ok bad_request", options=("--log-level", "debug")),
    Attempt(request_ids.lines_of_ones_own, "bad_field bad_name bad_request not_found ok",
            short=True, options=("--log-level", "debug")),
    Attempt(reading.twenty_thousand_studies_in_a_loop, "ok rate_limited"),
    Attempt(reading.more_requests_than_may_wait, "ok too_many_requests", short=True,
            options=("--waiting-requests", "8")),
    Attempt(reading.wrong_codes_with_twenty_thousand_links,
            "ok bad_enrolment_code rate_limited"),
    Attempt(reading.hashes_of_large_uploads, "hash_mismatch"),
    Attempt(requests_.hash_of_other_bytes, "hash_mismatch"),
    Attempt(requests_.upload_too_large, "blob_too_large"),
    Attempt(requests_.spec_too_large, "body_too_large"),
    Attempt(requests_.paths_outside, "not_found", short=True),
    Attempt(requests_.other_methods, "method_not_allowed"),
    Attempt(requests_.numbers_out_of_range, "bad_number"),
    Attempt(requests_.studies_over_quota, "quota_exceeded"),
    Attempt(requests_.bytes_over_quota, "quota_exceeded"),
    Attempt(requests_.study_of_too_many_points, "space_too_large"),
    Attempt(shares.split_into_many_studies, "ok half", short=True),
    Attempt(shares.give_oneself_a_share, "forbidden"),
    Attempt(shares.pretend_to_belong, "ok own welcome wait"),
    Attempt(stopped.name_blobs_of_others, "unknown_blob", short=True),
    Attempt(stopped.probe_for_blobs, "404 unknown_blob"),
    Attempt(stopped.guess_proofs, "unknown_blob unknown_salt"),
    Attempt(stopped.let_the_server_hash_without_end, "unknown_blob rate_limited"),
    Attempt(stopped.go_on_after_suspension, "operator_stopped wait suspended", short=True),
    Attempt(stopped.go_on_in_a_frozen_project, "project_frozen forbidden ok wait"),
    Attempt(stopped.rename_a_barred_bundle, "operator_stopped bundle_barred forbidden"),
    Attempt(stopped.exceed_ceilings, "ceiling_exceeded wait"),
    Attempt(stopped.go_round_an_approval, "ok forbidden wait"),
    Attempt(stopped.lift_own_limits, "forbidden"),
)  # fmt: skip
