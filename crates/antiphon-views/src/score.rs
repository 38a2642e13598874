//! A session as rows of marks on lanes, like a musical score, ready to be drawn.
//!
//! An utterance is one row, however many it reached: the dot is on the speaker's lane, and an arrow
//! goes to each lane on which it arrived.

use std::collections::BTreeMap;

use antiphon_model::{
    AgentIx, BodyError, Entry, EntryKind, EventIx, Link, LinkKind, MessageRef, Role, Source,
};

use crate::Reading;
use crate::delivery::{Said, arrivals};

/// Lanes from left to right, rows from top to bottom.
#[derive(Debug, Default)]
pub(crate) struct Score {
    pub(crate) lanes: Vec<Lane>,
    pub(crate) rows: Vec<Row>,
}

#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) name: String,
    pub(crate) is_agent: bool,
    /// The row at which it begins.
    pub(crate) from: usize,
}

#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) mark: Mark,
    pub(crate) lane: usize,
    pub(crate) text: String,
    /// The lanes that it reaches.
    pub(crate) arrows: Vec<Arrow>,
}

#[derive(Debug)]
pub(crate) struct Arrow {
    pub(crate) to: usize,
    /// Whether the words that arrived differ from those that were said.
    pub(crate) changed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A message to an agent, from outside, from the system or from another agent.
    Received,
    /// An agent is created.
    Made,
    Said,
    Called,
    /// The result of a call is an error.
    Failed,
}

pub(crate) fn score(reading: &Reading<'_>) -> Result<Score, BodyError> {
    let session = reading.session;
    let links = session.links(reading.bodies)?;
    let arrivals = arrivals(reading, &links);
    let mut drawing = Drawing { reading, score: Score::default(), lane_of: BTreeMap::new() };
    for entry in session.entries() {
        let Some(agent) = entry.agent() else { continue };
        #[expect(clippy::wildcard_enum_match_arm, reason = "the rest is not drawn")]
        match entry.kind() {
            EntryKind::AgentCreated => drawing.made(agent),
            EntryKind::Message(Role::User) if !is_drawn(&links, reading, entry) => {
                drawing.received(entry, agent, &links)?;
            }
            EntryKind::Message(Role::Assistant) => {
                let reached = arrivals.get(&Said::Event(entry.ix())).map_or(&[][..], Vec::as_slice);
                drawing.answer(entry, agent, reached)?;
            }
            EntryKind::Fragment => {
                let reached = arrivals.get(&Said::Event(entry.ix())).map_or(&[][..], Vec::as_slice);
                drawing.said(Mark::Received, entry, agent, reached)?;
            }
            EntryKind::Message(Role::Tool) if entry.is_error() => {
                let lane = drawing.agent_lane(agent);
                let text = reading.text(entry)?;
                drawing.push(Mark::Failed, lane, text, Vec::new());
            }
            _ => {}
        }
    }
    drawing.score.put_outside_first();
    Ok(drawing.score)
}

/// Whether a message is drawn as an arrow of an earlier row.
fn is_drawn<'a>(links: &[Link<'a>], reading: &Reading<'a>, entry: Entry<'_>) -> bool {
    let earlier = |link: &&Link<'_>| match (link.kind, link.from) {
        (LinkKind::Delivery, MessageRef::Event(from)) => {
            let from = reading.session.entry(from);
            from.is_utterance() || from.kind() == EntryKind::Fragment
        }
        (LinkKind::Broadcast, _) => true,
        _ => false,
    };
    reading.links_to(links, entry).any(|link| earlier(&link))
}

impl Score {
    /// Moves the lane of the outside world to the left.
    fn put_outside_first(&mut self) {
        let mut order: Vec<usize> = (0..self.lanes.len()).collect();
        order.sort_by_key(|&lane| self.lanes.get(lane).is_none_or(|lane| lane.is_agent));
        let mut place = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            if let Some(place) = place.get_mut(old) {
                *place = new;
            }
        }
        let moved = |lane: usize| place.get(lane).copied().unwrap_or(lane);
        for row in &mut self.rows {
            row.lane = moved(row.lane);
            row.arrows.iter_mut().for_each(|arrow| arrow.to = moved(arrow.to));
        }
        let mut lanes: Vec<_> = std::mem::take(&mut self.lanes).into_iter().enumerate().collect();
        lanes.sort_by_key(|(old, _)| moved(*old));
        self.lanes = lanes.into_iter().map(|(_, lane)| lane).collect();
    }
}

struct Drawing<'r, 'a> {
    reading: &'r Reading<'a>,
    score: Score,
    lane_of: BTreeMap<LaneOwner, usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum LaneOwner {
    External,
    System,
    Agent(AgentIx),
}

impl Drawing<'_, '_> {
    fn made(&mut self, agent: AgentIx) {
        let parent = self.reading.session.agent(agent).parent.agent();
        let Some(parent) = parent else {
            self.agent_lane(agent);
            return;
        };
        let from = self.agent_lane(parent);
        let to = self.agent_lane(agent);
        let text = format!("makes {}", self.reading.session.agent_name(agent));
        self.push(Mark::Made, from, text, vec![Arrow { to, changed: false }]);
    }

    fn received(
        &mut self,
        entry: Entry<'_>,
        agent: AgentIx,
        links: &[Link<'_>],
    ) -> Result<(), BodyError> {
        let from = match (self.reading.sender(entry), entry.source()) {
            (Some(sender), _) => LaneOwner::Agent(sender),
            (None, Source::System) => LaneOwner::System,
            (None, Source::Own | Source::Agent(_) | Source::External) => LaneOwner::External,
        };
        let from = self.lane(from);
        let mut arrows = vec![Arrow { to: self.agent_lane(agent), changed: false }];
        // The other copies of a broadcast are drawn with the first.
        for copy in copies(links, entry.ix()) {
            if let Some(agent) = self.reading.session.entry(copy).agent() {
                arrows.push(Arrow { to: self.agent_lane(agent), changed: false });
            }
        }
        let text = self.reading.text(entry)?;
        self.push(Mark::Received, from, text, arrows);
        Ok(())
    }

    fn answer(
        &mut self,
        entry: Entry<'_>,
        agent: AgentIx,
        reached: &[Link<'_>],
    ) -> Result<(), BodyError> {
        let lane = self.agent_lane(agent);
        if !entry.is_utterance() {
            for (ix, call) in entry.calls() {
                let text = self.reading.call_text(self.reading.session.tool_name(ix), call)?;
                self.push(Mark::Called, lane, text, Vec::new());
            }
            return Ok(());
        }
        self.said(Mark::Said, entry, agent, reached)
    }

    /// Adds an utterance, with an arrow to each lane on which it arrived.
    fn said(
        &mut self,
        mark: Mark,
        entry: Entry<'_>,
        agent: AgentIx,
        reached: &[Link<'_>],
    ) -> Result<(), BodyError> {
        let lane = self.agent_lane(agent);
        let said = self.reading.text(entry)?;
        let mut arrows: Vec<Arrow> = Vec::new();
        for link in reached {
            let to = self.reading.session.entry(link.to);
            let Some(recipient) = to.agent().filter(|&other| other != agent) else { continue };
            let changed = !self.reading.text(to)?.contains(&said);
            let to = self.agent_lane(recipient);
            if arrows.iter().all(|arrow| arrow.to != to) {
                arrows.push(Arrow { to, changed });
            }
        }
        if arrows.is_empty() && self.reading.session.agent(agent).parent.agent().is_none() {
            arrows.push(Arrow { to: self.lane(LaneOwner::External), changed: false });
        }
        self.push(mark, lane, said, arrows);
        Ok(())
    }

    fn push(&mut self, mark: Mark, lane: usize, text: String, arrows: Vec<Arrow>) {
        self.score.rows.push(Row { mark, lane, text, arrows });
    }

    fn agent_lane(&mut self, agent: AgentIx) -> usize {
        self.lane(LaneOwner::Agent(agent))
    }

    fn lane(&mut self, owner: LaneOwner) -> usize {
        if let Some(&lane) = self.lane_of.get(&owner) {
            return lane;
        }
        let (name, is_agent) = match owner {
            LaneOwner::External => ("outside", false),
            LaneOwner::System => ("system", false),
            LaneOwner::Agent(agent) => (self.reading.session.agent_name(agent), true),
        };
        let lane = self.score.lanes.len();
        let from = self.score.rows.len();
        self.score.lanes.push(Lane { name: name.to_owned(), is_agent, from });
        self.lane_of.insert(owner, lane);
        lane
    }
}

/// The copies of a broadcast whose first is `event`.
fn copies(links: &[Link<'_>], event: EventIx) -> Vec<EventIx> {
    let start = links.partition_point(|link| link.to <= event);
    let near = links.get(start..).unwrap_or_default().iter().take(200);
    near.filter(|link| link.kind == LinkKind::Broadcast && link.from == MessageRef::Event(event))
        .map(|link| link.to)
        .collect()
}
