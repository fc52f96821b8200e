"""The REST endpoints of runs: ask for one, look at it, take back what one asked for."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response

from api.answers import requested_runs, run_of
from api.endpoint import AgentView
from api.errors import AbsentError
from api.openapi import describe
from api.outputs import RequestedRuns, RunOutput
from api.serializers import RUN_REQUEST_SCHEMA, RunRequest
from codememory.models import TokenScope
from codememory.run_requests import cancel_requested, find_run, run_facts


class RunsView(AgentView):
    scope = TokenScope.PROPOSE

    @describe(
        "collect_history",
        "Queue a run for each source, or join the one under way. Needs the scope `propose`.",
        RequestedRuns,
        body=RUN_REQUEST_SCHEMA,
        status=202,
    )
    def post(self, request: Request, project: str) -> Response:
        self.asked()
        chosen = self.project(project)
        wanted = RunRequest(data=request.data)
        wanted.is_valid(raise_exception=True)
        answer = requested_runs(self.access(), chosen, wanted.validated_data["sources"])
        return Response(answer, status=202)


class RunView(AgentView):
    @describe("get_run", "How far a run is, and how it ended.", RunOutput)
    def get(self, request: Request, project: str, run_id: str) -> Response:  # noqa: ARG002
        self.asked()
        return Response(run_of(self.project(project), run_id))


class RunCancelView(AgentView):
    scope = TokenScope.PROPOSE

    @describe(
        "cancel_run",
        "Cancel a run that this agent asked for. Needs the scope `propose`.",
        RunOutput,
        conflict=True,
    )
    def post(self, request: Request, project: str, run_id: str) -> Response:  # noqa: ARG002
        self.asked()
        chosen = self.project(project)
        run = find_run(chosen, run_id)
        if run is None:
            raise AbsentError
        return Response(run_facts(chosen, cancel_requested(run, self.access().actor())))
