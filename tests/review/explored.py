"""A small shop whose history has one of each: reverts, a moved document, a doubtful rename."""

from __future__ import annotations

from django.contrib.auth.models import User

from codememory.models import FileChange, LogicalChange, Project
from tests.builders import signed_in
from tests.collected import SOURCES, collect
from tests.repos import RepoBuilder

OLD = """\
class Till:
    def open(self):
        self.drawer.unlock(self.key)
        self.light.switch_on()

    def close(self):
        self.count_coins()
        return self.drawer.lock()
"""
NEW = OLD.replace("self.light.switch_on()", "self.light.switch_on(self.colour)")
RULES = "# Refunds\n\n## Rules\n\n- {}\n"
FIRST_RULE = "Every refund must be booked before the customer is told."
SECOND_RULE = "Every refund must be booked after the customer is told."
HOSTILE = "def greet():\n    return '<script>alert(1)</script> \u202e\x1b[31m'\n"
TWIN = "".join(f"LINE_{number} = {number}\n" for number in range(20))
SLUG = "/projects/shop"


def make_shop(repo: RepoBuilder, sources: tuple[str, ...] = SOURCES) -> Project:
    """Collect a project called shop: see the commits."""
    repo.write("till.py", OLD)
    repo.write("docs/refunds.md", RULES.format(FIRST_RULE))
    repo.write("left.py", TWIN)
    repo.write("right.py", TWIN)
    repo.commit()
    repo.write("till.py", NEW)
    repo.commit("nobody reads this")
    repo.write("till.py", OLD)
    repo.commit()
    repo.write("docs/refunds.md", RULES.format(SECOND_RULE))
    repo.write("greet.py", HOSTILE)
    repo.commit()
    repo.remove("left.py")
    repo.remove("right.py")
    repo.write("twin.py", TWIN)
    repo.commit()
    return collect(repo, sources)


def page(user: User, address: str, status: int = 200) -> str:
    """The text of a page of the shop."""
    answer = signed_in(user).get(f"{SLUG}/{address}")
    assert answer.status_code == status, address
    return answer.content.decode()


def changes_of(project: Project, path: str) -> list[LogicalChange]:
    """The changes that touched a path, the oldest first."""
    rows = FileChange.objects.filter(scope=project.scope, logical_change__isnull=False)
    rows = rows.filter(new_path__raw=path.encode()).order_by("commit_id")
    return [row.logical_change for row in rows.select_related("logical_change")]
